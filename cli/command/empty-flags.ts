import { type CliCommand, SettingOption } from "./cli-command.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Checks that no flag is an empty text, as from a variable that is not set: it would count as left out, and the command
 * would act on more, or elsewhere. A setting's own reader checks it.
 *
 * @throws UsageError for such a flag
 */
export function assertNoEmptyFlags(command: CliCommand): void {
  const empty = command.options.find(
    (option) => !(option instanceof SettingOption) && command.getOptionValue(option.attributeName()) === "",
  );
  if (empty !== undefined) throw new UsageError(`${empty.long}: it is empty: give a value, or leave it out`);
}
