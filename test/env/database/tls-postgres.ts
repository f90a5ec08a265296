import { chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../certificate.ts";
import { type OwnPostgresServer, startOwnPostgres } from "./postgres.ts";

/**
 * 127.0.0.1 by a name, as the system's resolver reads it (inet_aton): to Keyplane another machine, as every name but
 * localhost, and there on each machine without a network.
 */
export const NAMED_LOOPBACK = "127.1";

export type TlsPostgresServer = OwnPostgresServer & {
  /** Of a superuser, by {@link NAMED_LOOPBACK}; nothing in it says how the connection is protected. */
  readonly namedUrl: string;
  /** A file of the authority of its certificate. */
  readonly caFile: string;
};

/** What Node makes of {@link NAMED_LOOPBACK} before it looks for it among the names of a certificate. */
const NORMALIZED_NAME = "127.0.0.1";

/**
 * A PostgreSQL that speaks TLS, and lets clients in that ask without.
 *
 * @param host the name that its certificate is for
 */
export async function startTlsPostgres(host = NORMALIZED_NAME): Promise<TlsPostgresServer> {
  const { cert, key } = makeCertificate(undefined, host);
  const server = await startOwnPostgres({ ssl: "on" }, async (folder) => {
    const { uid, gid } = await stat(folder);
    for (const [name, text] of [
      ["server.crt", cert],
      ["server.key", key],
    ] as const) {
      const file = join(folder, name);
      await writeFile(file, text, { mode: 0o600 });
      await chown(file, uid, gid);
    }
  });
  // The server's own belongs to its user, as its folder does, who could change it.
  const folder = await mkdtemp(join(tmpdir(), "keyplane-ca-"));
  const caFile = join(folder, "ca.crt");
  await writeFile(caFile, cert);
  const namedUrl = server.url.replace("127.0.0.1", NAMED_LOOPBACK);
  const stop = async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  };
  return { ...server, stop, namedUrl, caFile };
}
