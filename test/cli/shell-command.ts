import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { keyplane } from "./up.ts";

/** `keyplane` for scripts of bash. */
export type ShellCommand = {
  /** Defines it as a function: it takes no standard input and no variables. */
  readonly definition: string;
  close(): Promise<void>;
};

/** Runs in this process what scripts call: to start a process takes longer than most commands. */
export async function openShellCommand(): Promise<ShellCommand> {
  const server = createServer(async (request, response) => {
    const args = (await buffer(request)).toString().split("\0").slice(0, -1);
    const { code, out, err } = await keyplane(args);
    response.end(`printf %s ${quoted(out)}; printf %s ${quoted(err)} >&2; return ${code}`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    definition: `keyplane() {
  local ended
  ended=$(printf '%s\\0' "$@" | command curl -sS --data-binary @- http://127.0.0.1:${port}) || return
  eval "$ended"
}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
