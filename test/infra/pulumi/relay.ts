#!/usr/bin/env node
/**
 * Stands as `pulumi-resource-keyplane` between the engine and the provider. Once the file that HOLD names is there, the
 * engine hears no more of the provider; that an answer has been swallowed is written to that file.
 */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

const { HOLD = "" } = process.env;
const provider = spawn(
  process.execPath,
  [join(import.meta.dirname, "../../../infra/pulumi/provider/main.ts"), ...process.argv.slice(2)],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const end = () => {
  provider.kill();
  process.exit();
};
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, end);
provider.on("exit", end);
const engine = process.ppid;
setInterval(() => process.ppid === engine || end(), 200);

provider.stdout.once("data", (line: Buffer) => {
  const port = Number(String(line));
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    client.pipe(upstream);
    upstream.on("data", (bytes) => {
      if (existsSync(HOLD)) writeFileSync(HOLD, "held");
      else client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on("close", () => other.destroy()).on("error", () => {});
    }
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address !== null) process.stdout.write(`${address.port}\n`);
  });
});
