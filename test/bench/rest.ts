/** Measures what Keyplane takes of a machine while no requests arrive. */
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../env/free-port.ts";
import { KEYPLANE_COMMAND, startDatabase } from "./contestants.ts";
import { type Contestant, cpuMicroseconds, Processes, residentMegabytes } from "./processes.ts";
import { figure, table } from "./table.ts";

const SETTLE_MS = 30_000;
const MEASURED_MS = 60_000;
const MANIFESTS = join(import.meta.dirname, "../../examples/quickstart/manifests");

/** Measures `keyplane up` on the quickstart's manifests, at its first start and at its second, and `keyplane server`. */
export async function benchRest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-rest-"));
  try {
    await cp(MANIFESTS, join(folder, "manifests"), { recursive: true });
    const up = ["up", "--manifests", join(folder, "manifests"), "--data", join(folder, "data")];
    const rows = [
      ["keyplane up, first start", ...(await measure(up))],
      ["keyplane up, second start", ...(await measure(up))],
    ];
    const database = await startDatabase([], {});
    rows.push(["keyplane server", ...(await measure(["server"], database.env))]);
    await database.close();
    return table(["at rest", "of a core, %", "wake-ups a second", "resident MB"], rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const processes = new Processes();
  const port = await freePort();
  const args = [KEYPLANE_COMMAND, ...command, "--port", String(port), "--admin-port", "0"];
  try {
    const { pid } = await processes.start({ name: "keyplane", command: process.execPath, args, port, env });
    await delay(SETTLE_MS);
    const [cpu, woken] = [cpuMicroseconds(pid), wakeUps(pid)];
    await delay(MEASURED_MS);
    const share = (cpuMicroseconds(pid) - cpu) / (MEASURED_MS * 10);
    const wakeUpsPerSecond = ((wakeUps(pid) - woken) * 1_000) / MEASURED_MS;
    return [figure(share, 1), figure(wakeUpsPerSecond), figure(residentMegabytes(pid))];
  } finally {
    await processes.stop();
  }
}

/** Counts how often the threads of a process have waited and been woken. */
function wakeUps(pid: Contestant["pid"]): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "latin1");
    return sum + Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1]);
  }, 0);
}
