import type { Clock } from "../../runtime/clock.ts";
import type { Store } from "../../store/database/store.ts";
import { drawFromCells } from "../../store/limits/limit-cells.ts";
import { PERIOD_MS } from "./held-limit.ts";
import { InstallationLimits } from "./installation-limits.ts";

type OpenLimits = {
  /** Null if the database is embedded: its one replica's count is the installation's. */
  readonly installationLimits: InstallationLimits | null;
  close(): void;
};

/**
 * Opens the installation's limits for a thread.
 *
 * @param threads returns the number of threads of all replicas
 */
export function openInstallationLimits(
  store: Pick<Store, "db" | "engine">,
  { monotonic }: Pick<Clock, "monotonic">,
  threads: () => number,
): OpenLimits {
  if (store.engine === "pglite") return { installationLimits: null, close() {} };
  const draw = (draws: Parameters<typeof drawFromCells>[1]) => drawFromCells(store.db, draws);
  const installationLimits = new InstallationLimits({ draw, threads, monotonic });
  const periods = setInterval(() => installationLimits.endPeriod(), PERIOD_MS);
  return { installationLimits, close: () => clearInterval(periods) };
}
