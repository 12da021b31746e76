//go:build unix

package git

import (
	"os"
	"slices"
	"sync"
	"syscall"
)

// held are the open directories: their locks go with them.
var held struct {
	sync.Mutex
	files []*os.File
}

// hold locks a directory for as long as this process lives.
func hold(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil // a file system without locks: never swept, since its lock cannot be had either
	}
	held.Lock()
	defer held.Unlock()
	held.files = append(slices.DeleteFunc(held.files, gone), file)
	return nil
}

// gone lets go of a directory that was removed.
func gone(file *os.File) bool {
	if _, err := os.Lstat(file.Name()); err == nil {
		return false
	}
	file.Close()
	return true
}

// abandoned holds for a directory of this user that nobody holds.
func abandoned(dir string, info os.FileInfo) bool {
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Getuid() {
		return false
	}
	file, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer file.Close()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
