import { TLSSocket } from "node:tls";
import pg from "pg";
import { connectionConfig, type DatabaseLocation } from "./connection-config.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * The version of TLS that a connection speaks to what it is made to, the database or a pooler in front of it: as
 * "TLSv1.3", and null for none.
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
