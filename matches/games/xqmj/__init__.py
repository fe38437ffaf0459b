"""Xiangqi mahjong (象棋麻将 / 象棋麻將): mahjong with the pieces of a xiangqi set."""
