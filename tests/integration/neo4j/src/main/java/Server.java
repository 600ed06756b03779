import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Neo4j Community on a port of this machine, with a password: {@code Server FOLDER PORT PASSWORD}. */
public final class Server {
    private Server() {}

    public static void main(String[] arguments) throws InterruptedException {
        var service = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1])))
                .setConfig(GraphDatabaseSettings.auth_enabled, true)
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        // The first password is "neo4j" and must be changed before anything else.
        var system = service.database(GraphDatabaseSettings.SYSTEM_DATABASE_NAME);
        system.executeTransactionally("ALTER USER neo4j SET PLAINTEXT PASSWORD '" + arguments[2] + "' CHANGE NOT REQUIRED");
        System.out.println("ready");
        Thread.currentThread().join();
    }
}
