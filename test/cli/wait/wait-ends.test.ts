import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { writeServerFile } from "../../../cli/data/data-folder.ts";
import { main } from "../../../cli/program.ts";
import { lockData } from "../../../controller/cluster/files/lock.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { until } from "../../env/until.ts";

describe("keyplane wait ends while an API server does not answer the first look", () => {
  test("when it is interrupted", async () => {
    const silent = await silentServer();
    const stop = new AbortController();
    const waiting = wait(silent.kubeconfig, "10m", stop.signal);
    await until("it waits for an answer", () => silent.requests() > 0);
    stop.abort();
    expect(await waiting).toEqual([
      1,
      "keyplane: interrupted while waiting for condition=Ready of platformkey/dev/agent: no answer has come\n",
    ]);
  });

  test("at its timeout", async () => {
    const { kubeconfig } = await silentServer();
    expect(await wait(kubeconfig, "100ms", new AbortController().signal)).toEqual([
      1,
      "keyplane: timed out after 100ms while waiting for condition=Ready of platformkey/dev/agent: no answer has come\n",
    ]);
  });
});

test("keyplane wait takes no state for reached that keyplane up left as it ended", async () => {
  const data = mkdtempSync(join(tmpdir(), "keyplane-wait-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  writeFileSync(join(data, "cluster-id"), "uid");
  const folder = join(data, "status", "dev", "PlatformKey");
  mkdirSync(folder, { recursive: true });
  const ready = { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "" };
  const object = { metadata: { name: "agent", namespace: "dev", generation: 1 }, status: { conditions: [ready] } };
  writeFileSync(join(folder, "agent.json"), JSON.stringify(object));
  const wait = () => waitWith(["--timeout", "0", "--data", data], new AbortController().signal);
  expect(await wait()).toEqual([1, expect.stringContaining("keyplane up is not running on this folder")]);
  const lock = await lockData(data, { clock: systemClock });
  onTestFinished(() => lock.release());
  expect(await wait()).toEqual([1, expect.stringContaining("keyplane up has not begun to serve on this folder")]);
  const url = "http://127.0.0.1:1";
  const keys = { encryptionKeyFile: null, encryptionKeys: [] };
  await writeServerFile(data, { url, adminUrl: url, manifests: data, placeholders: 0, ...keys });
  expect((await wait())[0]).toBe(0);
});

/** @returns the exit code, and what is on standard error */
function wait(kubeconfig: string, timeout: string, stop: AbortSignal): Promise<[code: number, err: string]> {
  return waitWith(["--timeout", timeout, "--kubeconfig", kubeconfig], stop);
}

async function waitWith(args: readonly string[], stop: AbortSignal): Promise<[code: number, err: string]> {
  let err = "";
  const code = await main(["wait", "key", "dev/agent", ...args], {
    env: {},
    out: () => {},
    err: (text) => {
      err += text;
    },
    stopSignal: () => stop,
  });
  return [code, err];
}

/** An API server that answers nothing. */
async function silentServer(): Promise<{ kubeconfig: string; requests(): number }> {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-wait-"));
  let requests = 0;
  const server = createServer(() => void requests++).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const kubeconfig = join(folder, "kubeconfig");
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "x" },
    clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return { kubeconfig, requests: () => requests };
}
