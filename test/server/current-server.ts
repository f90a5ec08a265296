import type { TestContext } from "vitest";
import { type RunningServer, type ServerOptions, startServer } from "../../processes/main.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { parseServerConfig } from "../../server/context/config.ts";
import { keyring } from "./key-index/replica-fixtures.ts";

export type CurrentServerOptions = Partial<Omit<ServerOptions, "config">> & {
  readonly store: ServerOptions["store"];
  /** Beside free ports. */
  readonly flags?: Readonly<Record<string, string>>;
};

/** A server in this process, on free ports, that knows all that is stored; it ends with the test. */
export async function startCurrentServer(
  context: TestContext,
  { flags = {}, ...options }: CurrentServerOptions,
): Promise<RunningServer> {
  const config = parseServerConfig({}, { port: "0", adminPort: "0", ...flags });
  const server = await startServer({ keyring, clock: systemClock, log: createLog("silent"), config, ...options });
  context.onTestFinished(() => server.close());
  await server.whenCurrent;
  return server;
}
