/** The price list of `--prices`, which is corrected while the server runs. */
import { parsePriceList } from "../../domain/usage/parse-price-list.ts";
import type { PriceList } from "../../domain/usage/price-list.ts";
import type { Logger } from "../../runtime/log.ts";
import { startPeriodically } from "../../runtime/periodic.ts";
import { ConfigError } from "../../runtime/settings.ts";
import { readConfiguredFile } from "../context/configured-file.ts";

/**
 * Milliseconds between two reads of the file. A corrected list is used once two reads in a row have found it, within
 * three times that: half of a list can be a valid one, while its other half is being written.
 */
const READ_MS = 1_000;
/** Faults that are listed: the others are likely of the same kind. */
const MAX_FAULTS = 20;

/** Prices of usage at present: null if the installation has none. */
export type CurrentPrices = { current(): PriceList | null };

/** Prices of an installation that has none. */
export const NO_PRICES: CurrentPrices = { current: () => null };

/** @throws ConfigError with what is wrong and on which line */
function listOf(file: string, content: Buffer): PriceList {
  const read = parsePriceList(content);
  if ("list" in read) return read.list;
  throw new ConfigError(
    read.faults
      .slice(0, MAX_FAULTS)
      .map(({ line, path, message }) => `--prices: ${file}:${line}: ${path === "" ? "" : `${path}: `}${message}`),
  );
}

/**
 * Reads the price list, and the file again each second. While the file has a fault, the last list is used.
 *
 * @param file null for an installation without prices
 * @param log logs changes and faults; left out in all threads but one
 * @throws ConfigError with what is wrong and on which line, if the file cannot be read or used at the start
 */
export async function openPrices(
  file: string | null,
  log?: Logger,
): Promise<CurrentPrices & { close(): Promise<void> }> {
  if (file === null) return { ...NO_PRICES, close: async () => {} };
  /**
   * Content as it was last read, which is compared: to parse a list of thousands takes a serving thread tens of
   * milliseconds.
   */
  let content: Buffer | undefined = await readConfiguredFile("--prices", file);
  /** True if the content is that of the list in use, or has a fault. */
  let isDone = true;
  let list = listOf(file, content);
  let fault: string | undefined;
  const readAgain = async (): Promise<void> => {
    const before = content;
    content = undefined;
    const now = await readConfiguredFile("--prices", file);
    content = now;
    if (before === undefined || !now.equals(before)) {
      isDone = false;
      return;
    }
    if (isDone) return;
    isDone = true;
    const { version } = list;
    list = listOf(file, now);
    if (list.version !== version) log?.info({}, `usage is priced by ${file} as it is now: ${list.version}`);
    fault = undefined;
  };
  const end = startPeriodically({
    intervalMs: READ_MS,
    isSpread: true,
    onFailure: (error) => log?.warn({ error }, "could not check the price list; it is checked again shortly"),
    async run() {
      try {
        await readAgain();
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        const now = error.faults.join("; ");
        if (now !== fault) log?.error({}, `the previous prices (${list.version}) are still used: ${now}`);
        fault = now;
      }
    },
  });
  return { current: () => list, close: end };
}
