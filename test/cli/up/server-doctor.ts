import { createServer } from "node:http";
import { expect, test } from "vitest";
import type { Finding } from "../../../cli/doctor/finding.ts";
import { checkServer } from "../../../cli/doctor/server.ts";
import { freePort } from "../../env/free-port.ts";
import { type Installation, keyplane, tokenOf } from "../up.ts";

/** What doctor says of a server, as `severity name`. */
async function doctor(args: readonly string[], env: Record<string, string> = {}) {
  const { code, out } = await keyplane(["doctor", "-o", "json", ...args], env);
  const { findings }: { findings: Finding[] } = JSON.parse(out);
  return { code, found: findings.map(({ severity, name }) => `${severity} ${name}`) };
}

export function testServerDoctor({ home, up }: Installation): void {
  test("doctor of a server that is well finds nothing, with a token or without", async () => {
    const [reached, clock] = ["ok server-connection", "ok clock"];
    expect(await doctor(["--server", up().url])).toEqual({ code: 0, found: [reached, clock] });
    const env = { KEYPLANE_SERVER: up().url, KEYPLANE_TOKEN: tokenOf(home) };
    expect(await doctor([], env)).toEqual({ code: 0, found: [reached, clock, "ok management-api"] });
  });

  test("doctor of a server finds a token that is another installation's", async () => {
    const { code, found } = await doctor(["--server", up().url], { KEYPLANE_TOKEN: "x".repeat(40) });
    expect([code, found.at(-1)]).toEqual([1, "error management-api"]);
    const missing = await doctor(["--server", up().url, "--token-file", "/nowhere"]);
    expect([missing.code, missing.found.at(-1)]).toEqual([1, "error management-api"]);
  });

  test("doctor of a server finds that no server answers, or that another program does", async (context) => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    expect(await doctor(["--server", closed, "--admin-url", closed])).toEqual({
      ...{ code: 1, found: ["error server-connection", "error readiness"] },
    });
    const other = createServer((_, response) => response.end("welcome"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    context.onTestFinished(() => void other.close());
    const address = other.address();
    const port = typeof address === "object" ? address?.port : undefined;
    expect((await doctor(["--server", `http://127.0.0.1:${port}`])).found).toEqual(["error server-connection"]);
  });

  test("doctor of a server finds a clock that is an hour off", async () => {
    const now = () => Date.now() + 3_600_000;
    const findings = await checkServer({
      url: new URL(up().url),
      management: undefined,
      command: (words) => words,
      now,
    });
    expect(findings).toContainEqual(
      expect.objectContaining({
        ...{ name: "clock", severity: "error" },
        message: expect.stringMatching(/^the server's clock is 3\d\d\d s behind this machine's$/),
      }),
    );
  });
}
