/** A process of its own that takes the lock on a DATA folder and keeps it: `lock-holder.ts DATA`. */
import { lockData } from "../../../../controller/cluster/files/lock.ts";

const lock = await lockData(process.argv[2] ?? "", {
  clock: { monotonic: () => performance.now() },
  patienceMs: 0,
}).catch(() => undefined);
console.log(lock === undefined ? "refused" : "locked");
if (lock !== undefined) setInterval(() => {}, 1_000);
