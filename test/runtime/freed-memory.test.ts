import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { returnFreedMemory } from "../../runtime/freed-memory.ts";

const MODULE = new URL("../../runtime/freed-memory.ts", import.meta.url).href;
const PROGRAM = `const { returnFreedMemory } = await import(${JSON.stringify(MODULE)});
  returnFreedMemory(process);
  console.log(JSON.stringify([process.pid, process.env.MALLOC_TRIM_THRESHOLD_, process.argv.slice(1), process.env.KEPT]));`;

test.runIf(process.platform === "linux")(
  "a process starts once more as itself: with its id, arguments, flags and environment, and glibc's setting",
  async () => {
    const { MALLOC_TRIM_THRESHOLD_: _, ...env } = process.env;
    const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM, "server", "--port=0"], {
      env: { ...env, KEPT: "yes" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect(err).toBe("");
    expect(JSON.parse(out)).toEqual([child.pid, "1048576", ["server", "--port=0"], "yes"]);
  },
);

const LINUX = { argv: ["node", "main.ts", "up"], env: { HOME: "/root" }, platform: "linux" } as const;
test.each<[string, Partial<NodeJS.Process>]>([
  ["elsewhere than on Linux", { platform: "darwin" }],
  ["with a setting of its own", { env: { MALLOC_TRIM_THRESHOLD_: "0" } }],
  ["with a channel to its parent", { connected: true }],
  ["with an argument that names an open file", { argv: ["node", "main.ts", "up", "--encryption-key-file=/dev/fd/63"] }],
  ["with a variable that names an open file", { env: { KEYPLANE_TOKEN_FILE: "/proc/self/fd/3" } }],
])("a process %s goes on as it is", (_, own) => {
  const execve = vi.fn<NonNullable<NodeJS.Process["execve"]>>();
  const given = { connected: false, execArgv: [], execPath: "node", execve, ...LINUX };
  returnFreedMemory({ ...given, argv: [...LINUX.argv], ...own });
  expect(execve).not.toHaveBeenCalled();
  returnFreedMemory({ ...given, argv: [...LINUX.argv] });
  expect(execve).toHaveBeenCalledWith("node", ["node", "main.ts", "up"], {
    HOME: "/root",
    MALLOC_TRIM_THRESHOLD_: "1048576",
  });
});
