"""The tests of xqmj."""
