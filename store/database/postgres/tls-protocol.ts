import { TLSSocket } from "node:tls";
import pg from "pg";
import { connectionConfig, type DatabaseLocation } from "./connection-config.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Returns the TLS version of a connection to the location, which is the database or a pooler in front of it: such as
 * "TLSv1.3", or null for none.
 */
export async function tlsProtocol(location: DatabaseLocation): Promise<string | null> {
  const client = new pg.Client({ ...connectionConfig(location), connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on("error", () => {});
  try {
    await client.connect();
    const { stream } = client.connection;
    return stream instanceof TLSSocket ? stream.getProtocol() : null;
  } finally {
    await client.end();
  }
}
