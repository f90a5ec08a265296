/** examples/model-stub by the commands of its README. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT, read } from "../architecture/sources.ts";
import { blocksIn } from "../env/blocks.ts";
import { freePort } from "../env/free-port.ts";
import { until } from "../env/until.ts";

it("examples/model-stub/README.md starts a server that answers the call beside it", async () => {
  const port = await freePort();
  const [start = "", call = ""] = blocksIn(read("examples/model-stub/README.md")).map(({ text }) =>
    text.replaceAll("9100", String(port)),
  );
  const stub = spawn("bash", ["-c", `exec ${start}`], { cwd: ROOT, stdio: "ignore" });
  try {
    const answer = await until("it answers", async () => {
      const { stdout } = await promisify(execFile)("bash", ["-c", call], { cwd: ROOT }).catch(() => ({ stdout: "" }));
      return stdout;
    });
    expect(JSON.parse(answer).choices[0].message.content).toContain("I am a stub, not a model.");
  } finally {
    stub.kill();
    await once(stub, "close");
  }
});
