"""Tests: two-player xiangqi mahjong, by rule number."""
