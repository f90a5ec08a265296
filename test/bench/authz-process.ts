/**
 * What `authz.ts` measures, in a process of its own: the verifier, or the least that could stand in its place, an answer
 * by node:http with one SHA-256. Says its port, and for each message the CPU that it has used, in microseconds.
 */
import { hash, randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { keyDigest, mintKey } from "../../domain/key/secret/key-format.ts";
import { createVerifierServer } from "../../server/authz/verifier-server.ts";
import { UseNotes } from "../../server/usage/use-notes.ts";
import { indexedKey, keyRecord, startHarness } from "../server/harness.ts";

const [kind = "floor", keys = "1"] = process.argv.slice(2);

async function verifier(): Promise<{ readonly server: Server; readonly plaintexts: readonly string[] }> {
  const harness = await startHarness();
  const plaintexts = Array.from({ length: Number(keys) }, () => {
    const plaintext = mintKey(randomBytes);
    const record = keyRecord();
    harness.index.applyKey(record.keyId, [indexedKey(keyDigest(plaintext), record)]);
    return plaintext;
  });
  harness.addGateway({
    publicId: "bench",
    upstreams: [{ name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" }],
  });
  // The test's own recorder would keep every use.
  const usage = new UseNotes(
    () => {},
    () => {},
  );
  const { server } = await createVerifierServer(
    { ...harness.deps, usage },
    { tls: null, tokenFile: null, addressHeader: "x-real-ip" },
  );
  return { server, plaintexts };
}

function floor(): Server {
  return createServer((request, response) => {
    hash("sha256", request.headers.authorization ?? "", "binary");
    response.writeHead(200, ["content-length", "0"]);
    response.end();
  });
}

const { server, plaintexts } =
  kind === "floor" ? { server: floor(), plaintexts: [mintKey(randomBytes)] } : await verifier();
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port, plaintexts });
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system });
});
