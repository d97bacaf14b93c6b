// Names by Go's own resolver, one connection to each.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
)

func main() {
	for _, name := range os.Args[1:] {
		found, err := net.LookupHost(name)
		var why *net.DNSError
		if errors.As(err, &why) && why.IsNotFound {
			fmt.Println(name, "unknown")
			continue
		} else if err != nil {
			fmt.Println(name, err)
			continue
		}
		for _, address := range found {
			connection, err := net.Dial("tcp", net.JoinHostPort(address, "80"))
			if err != nil {
				fmt.Println(name, address, "refused")
				continue
			}
			connection.Close()
			fmt.Println(name, address, "reached")
		}
	}
}
