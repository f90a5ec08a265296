/** The price list of `--prices`, which is corrected while the server runs. */
import { parsePriceList } from "../../domain/usage/parse-price-list.ts";
import type { PriceList } from "../../domain/usage/price-list.ts";
import type { Logger } from "../../runtime/log.ts";
import { startPeriodically } from "../../runtime/periodic.ts";
import { ConfigError } from "../../runtime/settings.ts";
import { readConfiguredFile } from "../context/configured-file.ts";

/** How often the file is read: a corrected list is used within this and a half. */
const READ_MS = 1_000;
/** Faults that are listed: the others are likely of the same kind. */
const MAX_FAULTS = 20;

/** What usage is priced by at present: null where the installation has no prices. */
export type CurrentPrices = { current(): PriceList | null };

/** Of an installation without prices. */
export const NO_PRICES: CurrentPrices = { current: () => null };

/**
 * Reads the price list.
 *
 * @throws ConfigError with what is wrong and on which line, where it cannot be read or used
 */
export async function readPriceList(file: string): Promise<PriceList> {
  const read = parsePriceList((await readConfiguredFile("--prices", file)).toString());
  if ("list" in read) return read.list;
  throw new ConfigError(
    read.faults
      .slice(0, MAX_FAULTS)
      .map(({ line, path, message }) => `--prices: ${file}:${line}: ${path === "" ? "" : `${path}: `}${message}`),
  );
}

/**
 * Reads the price list, and again each second. While the file has a fault, the last list is used.
 *
 * @param file null for an installation without prices
 * @param log where changes and faults are logged; left out in all threads but one
 * @throws ConfigError as {@link readPriceList} at the start
 */
export async function openPrices(
  file: string | null,
  log?: Logger,
): Promise<CurrentPrices & { close(): Promise<void> }> {
  if (file === null) return { ...NO_PRICES, close: async () => {} };
  let list = await readPriceList(file);
  let fault: string | undefined;
  const end = startPeriodically({
    intervalMs: READ_MS,
    isSpread: true,
    onFailure: (error) => log?.warn({ error }, "could not check the price list; it is checked again shortly"),
    async run() {
      const now = await readPriceList(file).catch((error: unknown) => {
        if (error instanceof ConfigError) return error.faults.join("; ");
        throw error;
      });
      if (typeof now === "string") {
        if (now !== fault) log?.error({}, `the previous prices (${list.version}) are still used: ${now}`);
        fault = now;
        return;
      }
      if (now.version !== list.version) log?.info({}, `usage is priced by ${file} as it is now: ${now.version}`);
      list = now;
      fault = undefined;
    },
  });
  return { current: () => list, close: end };
}
