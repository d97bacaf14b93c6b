import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;

/** Names by Java's library, one connection to each. */
public class Names {
  public static void main(String[] names) {
    for (String name : names) {
      try {
        for (InetAddress address : InetAddress.getAllByName(name)) {
          try (Socket socket = new Socket(address, 80)) {
            System.out.println(name + " " + address.getHostAddress() + " reached");
          } catch (java.io.IOException refused) {
            System.out.println(name + " " + address.getHostAddress() + " refused");
          }
        }
      } catch (UnknownHostException unknown) {
        System.out.println(name + " unknown");
      }
    }
  }
}
