package coverage

import (
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"os"
)

// A map ends in a seal: eight letters and the checksum of everything before. A
// file that was cut, or half copied by a cache, would otherwise end the process
// when it is mapped into memory.
const sealWord = "TOUCHMAP"

func newSum() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

func seal(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	sum := newSum()
	_, err = io.Copy(sum, file)
	if err == nil {
		_, err = file.Write(binary.BigEndian.AppendUint32([]byte(sealWord), sum.Sum32()))
	}
	return errors.Join(err, file.Close())
}

var errSeal = errors.New("it was cut or changed after it was written")

func checkSeal(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	const length = int64(len(sealWord) + 4)
	body := info.Size() - length
	if body <= 0 {
		return errSeal
	}
	sum := newSum()
	if _, err := io.CopyN(sum, file, body); err != nil {
		return err
	}
	end, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	if string(end) != string(binary.BigEndian.AppendUint32([]byte(sealWord), sum.Sum32())) {
		return errSeal
	}
	return nil
}
