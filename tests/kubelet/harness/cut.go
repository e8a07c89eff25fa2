package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// cut breaks this process's connections to servers whose socket was bound to a
// path with the text in it, as when a stream dies while both ends live. The
// peers' listening sockets and all other connections stay.
func cut(text string) (int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		peer, err := syscall.Getpeername(fd)
		if err != nil {
			continue // no socket, or one that listens
		}
		unix, ok := peer.(*syscall.SockaddrUnix)
		if !ok || !strings.Contains(unix.Name, text) {
			continue
		}
		if err := syscall.Shutdown(fd, syscall.SHUT_RDWR); err != nil {
			return n, err
		}
		n++
	}
	if n == 0 {
		return 0, fmt.Errorf("no connection to a socket with %q in its path", text)
	}
	return n, nil
}
