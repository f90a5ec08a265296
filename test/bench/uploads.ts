/** Measures uploads of files that are large: their rate, and the memory that they take. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { PRESETS } from "../../domain/access/scopes.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { freePort } from "../env/free-port.ts";
import { KEYPLANE_COMMAND } from "./contestants.ts";
import { fillStore } from "./filled-store.ts";
import { writeNginx } from "./nginx.ts";
import { type Contestant, cpuMicroseconds, findProgram, Processes, residentMegabytes } from "./processes.ts";
import { figure, median, table } from "./table.ts";
import { mintedKeys, PUBLIC_ID } from "./traffic.ts";

const ROUNDS = 5;
const SIZE = 2 ** 30;
const PIECE = Buffer.alloc(64 << 10);
/** Milliseconds between two looks at a process's memory. */
const LOOK_MS = 50;
const PATH = `/g/${PUBLIC_ID}/v1/files`;

type Upload = { readonly seconds: number; readonly cpuSeconds: number; readonly megabytesMore: number };

/** Measures an upload of 1 GiB through nginx, which keeps nothing of it, and through `keyplane server`, in turns. */
export async function benchUploads(): Promise<string> {
  const nginx = findProgram("nginx");
  if (nginx === undefined) return "uploads: left out, as nginx is not there";
  const folder = await mkdtemp(join(tmpdir(), "keyplane-uploads-"));
  const processes = new Processes();
  const postgres = await startOwnPostgres();
  try {
    const start = async (name: string, command: string, argsOf: (port: number) => Promise<string[]>, env = {}) => {
      const port = await freePort();
      return processes.start({ name, command, args: await argsOf(port), port, env });
    };
    const sinkPath = join(import.meta.dirname, "sink-process.ts");
    const sink = await start("the upstream", process.execPath, async (port) => [sinkPath, String(port)]);
    const [key = ""] = mintedKeys(1);
    const encryptionKey = randomBytes(32).toString("base64");
    const store = await openPostgres(postgres.url, { answerTimeoutMs: 0 });
    const upstreams = { [PUBLIC_ID]: `http://127.0.0.1:${sink.port}` };
    const scopes = [...PRESETS.GatewayDefault, "gateway:files" as const];
    await fillStore(store, parseKeyring(encryptionKey), upstreams, [key], { scopes });
    await sql`update gateways set operations = ${["files"]}`.execute(store.db);
    await store.close();
    const contestants = [
      await start("nginx", nginx, (port) => writeNginx(folder, "nginx", unbuffered(port, sink.port))),
      await start(
        "keyplane server",
        process.execPath,
        async (port) => [
          ...[KEYPLANE_COMMAND, "server", "--port", String(port), "--admin-port", "0"],
          ...["--allow-private-upstreams", "127.0.0.0/8"],
        ],
        { KEYPLANE_DATABASE_URL: postgres.url, KEYPLANE_ENCRYPTION_KEY: encryptionKey },
      ),
    ];
    const uploads = contestants.map((): Upload[] => []);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [i, contestant] of contestants.entries()) {
        const measured = await upload(contestant, key);
        // The first round warms both up.
        if (round > 0) uploads[i]?.push(measured);
      }
    }
    const nginxSeconds = median((uploads[0] ?? []).map(({ seconds }) => seconds));
    const rows = contestants.map(({ name }, i) => {
      const of = (value: (upload: Upload) => number) => median((uploads[i] ?? []).map(value));
      const seconds = of((one) => one.seconds);
      return [
        name,
        figure(SIZE / 2 ** 20 / seconds),
        figure(nginxSeconds / seconds, 2),
        figure(
          of((one) => one.cpuSeconds),
          2,
        ),
        figure(Math.max(...(uploads[i] ?? []).map((one) => one.megabytesMore))),
      ];
    });
    return table(["an upload of 1 GiB", "MiB/s", "to nginx", "CPU s", "resident MB more, at most"], rows);
  } finally {
    await processes.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function unbuffered(port: number, upstreamPort: number): string {
  return `server {
    listen 127.0.0.1:${port};
    client_max_body_size 0;
    location / {
      proxy_pass http://127.0.0.1:${upstreamPort};
      proxy_http_version 1.1;
      proxy_request_buffering off;
    }
  }`;
}

/** Sends a file, and reads the answer. */
async function upload({ port, pid }: Contestant, key: string): Promise<Upload> {
  const { promise: answered, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1" });
  socket.once("data", (answer) => resolve(answer.toString("latin1")));
  socket.once("error", reject);
  socket.once("close", () => reject(new Error("the upload was broken off")));
  const [cpu, resident, began] = [cpuMicroseconds(pid), residentMegabytes(pid), performance.now()];
  let most = resident;
  const looks = setInterval(() => {
    most = Math.max(most, residentMegabytes(pid));
  }, LOOK_MS);
  try {
    socket.write(
      [`POST ${PATH} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${key}`, `Content-Length: ${SIZE}`]
        .concat("Content-Type: multipart/form-data; boundary=x", "Connection: close", "", "")
        .join("\r\n"),
    );
    for (let sent = 0; sent < SIZE; sent += PIECE.length) {
      if (!socket.write(PIECE)) await Promise.race([new Promise((go) => socket.once("drain", go)), answered]);
    }
    const answer = await answered;
    if (!answer.startsWith("HTTP/1.1 200")) throw new Error(`an upload was answered ${answer.slice(0, 300)}`);
    return {
      seconds: (performance.now() - began) / 1_000,
      cpuSeconds: (cpuMicroseconds(pid) - cpu) / 1_000_000,
      megabytesMore: most - resident,
    };
  } finally {
    clearInterval(looks);
    socket.destroy();
  }
}
