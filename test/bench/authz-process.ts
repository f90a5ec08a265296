/**
 * What `authz.ts` measures, in a process of its own: the verifier, by HTTP and by gRPC, or the least that could stand in
 * its place, an answer by node:http or node:http2 with one SHA-256. Says its port, and for each message the CPU that it has used, in microseconds.
 */
import { hash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { keyDigest, mintKey } from "../../domain/key/secret/key-format.ts";
import { createGrpcServer } from "../../server/authz/grpc-server.ts";
import { createVerifierServer } from "../../server/authz/verifier-server.ts";
import { UseNotes } from "../../server/usage/use-notes.ts";
import { indexedKey, keyRecord, startHarness } from "../server/harness.ts";

const [kind = "floor", keys = "1"] = process.argv.slice(2);

async function verifier(
  create: typeof createVerifierServer | typeof createGrpcServer,
): Promise<{ readonly server: Server; readonly plaintexts: readonly string[] }> {
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
  const { server } = await create(
    { ...harness.deps, usage },
    { tls: null, tokenFile: null, addressHeader: "x-real-ip" },
  );
  return { server, plaintexts };
}

function grpcFloor(): Server {
  const server = createHttp2Server();
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("data", (message: Buffer) => hash("sha256", message.subarray(0, 64), "binary"));
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.alloc(5));
    });
  });
  return server;
}

function floor(): Server {
  return createServer((request, response) => {
    hash("sha256", request.headers.authorization ?? "", "binary");
    response.writeHead(200, ["content-length", "0"]);
    response.end();
  });
}

const floors: Readonly<Record<string, () => Server>> = { floor, "gRPC floor": grpcFloor };
const createFloor = floors[kind];
const { server, plaintexts } =
  createFloor === undefined
    ? await verifier(kind === "gRPC verifier" ? createGrpcServer : createVerifierServer)
    : { server: createFloor(), plaintexts: [mintKey(randomBytes)] };
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port, plaintexts });
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system });
});
