import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { goModule } from "../../env/go/go-build.ts";
import { itByNight } from "../../env/night-test.ts";

const run = promisify(execFile);

/** In the module of the provider, with the flags that the tests build it with: what Go has compiled is there. */
async function inModule(program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-trimpath" };
  const { stdout } = await run(program, args, { cwd: goModule("../../infra/terraform"), env, maxBuffer: 1 << 26 });
  return stdout;
}

it("b350, b351, b434, b445: the provider's code is formatted, passes go vet, and its own tests", async () => {
  expect(await inModule("gofmt", "-l", ".")).toBe("");
  expect(await inModule("go", "test", "-vet=all", "./...")).toContain("internal/api");
});

itByNight("the modules of the provider are those that go.sum has", async () => {
  expect(await inModule("go", "mod", "verify")).toContain("all modules verified");
});
