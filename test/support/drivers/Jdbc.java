// Jdbc.java - JDBC: twenty transactions of two people in turn, and rows by portions; `named` prepares statements on the server.
import java.sql.*;

public class Jdbc {
  static void login(Connection connection, String name) throws SQLException {
    try (PreparedStatement set = connection.prepareStatement("SELECT set_config('app.login', ?, true)")) {
      set.setString(1, name);
      set.executeQuery().close();
    }
  }

  public static void main(String[] arguments) throws SQLException {
    String url = "jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/postgres?user=app&prepareThreshold=" + (arguments[0].equals("named") ? 1 : 0);
    try (Connection connection = DriverManager.getConnection(url)) {
      connection.setAutoCommit(false);
      try (PreparedStatement lookUp = connection.prepareStatement("SELECT city FROM patients WHERE id = ?")) {
        for (int i = 1; i <= 20; ++i) {
          login(connection, i % 2 == 1 ? "alice" : "bob");
          lookUp.setInt(1, i);
          lookUp.executeQuery().close();
          connection.commit();
        }
      }
      login(connection, "alice");
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(2);
        try (ResultSet rows = statement.executeQuery("SELECT name FROM patients WHERE id <= 5")) {
          while (rows.next()) {}
        }
      }
      connection.commit();
    }
  }
}
