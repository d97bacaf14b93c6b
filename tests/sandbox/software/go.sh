#!/bin/sh
# needs: go
# A module with a package, goroutines, a connection over loopback and a test, without a proxy.
set -eu
. "$(dirname "$0")/places.inc"
export GOFLAGS="-p=1 -mod=mod" GOPROXY=off GOTOOLCHAIN=local GO111MODULE=on CGO_ENABLED=0
mkdir -p m/sum && cd m
printf 'module example.org/m\n\ngo 1.19\n' > go.mod
printf 'package sum\n\nfunc Of(n int) (s int) {\n\tc := make(chan int)\n\tfor i := 0; i < n; i++ {\n\t\tgo func(i int) { c <- i }(i)\n\t}\n\tfor i := 0; i < n; i++ {\n\t\ts += <-c\n\t}\n\treturn s\n}\n' > sum/sum.go
printf 'package sum\n\nimport "testing"\n\nfunc TestOf(t *testing.T) {\n\tif Of(100) != 4950 {\n\t\tt.Fatal(Of(100))\n\t}\n}\n' > sum/sum_test.go
cat > main.go <<'G'
package main

import (
	"io"
	"net"
	"os/exec"

	"example.org/m/sum"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		c, _ := l.Accept()
		c.Write([]byte("over loopback"))
		c.Close()
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		panic(err)
	}
	b, _ := io.ReadAll(c)
	out, _ := exec.Command("echo", "child").Output()
	println(sum.Of(10), string(b), string(out))
}
G
go build -o m . && ./m
go vet ./sum && go test ./sum 2>&1 | without_times
