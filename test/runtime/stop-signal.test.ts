import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import { SHORT_LIVED } from "../env/compile-cache.ts";

const SOURCE = new URL("../../runtime/stop-signal.ts", import.meta.url);

test.each([
  ["thrown", "setImmediate(() => { throw new Error('this is not caught'); });"],
  ["in a promise", "Promise.reject(new Error('this is not caught'));"],
])("a process that drains by signals says what it died of: an error %s", async (_where, fails) => {
  const script = `import { stopSignal } from "${SOURCE}"; stopSignal({}, () => {}); ${fails}`;
  const died = new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [...SHORT_LIVED, "--input-type=module", "-e", script], (error, _stdout, stderr) => {
      resolve({ code: error?.code, stderr });
    });
  });
  expect(await died).toEqual({ code: 1, stderr: expect.stringContaining("this is not caught") });
});
