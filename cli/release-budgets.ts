import type { AddCommand } from "./command/command.ts";
import { UsageError } from "./command/usage-error.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { findNamedKey, NAMED_KEY } from "./management/named-key.ts";
import { findNamedTeam } from "./management/named-team.ts";
import { budgetTexts } from "./output/budgets-text.ts";
import { outputOption, outputText, type StructuredFormat } from "./output/output.ts";
import { plainText } from "./output/plain-text.ts";

type Flags = ServerChoice & {
  readonly team?: string;
  readonly reason?: string | undefined;
  readonly output?: StructuredFormat;
};

/**
 * Adds `keyplane release-budgets`, which gives budgets back what ended servers still hold (docs/decisions/budgets.md).
 */
export const addReleaseBudgets: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("release-budgets")
      .description("release the reserved part of budgets that ended servers held; until then it counts as used")
      .argument("[key]", `the key with the budgets: ${NAMED_KEY}`),
  )
    .option("--team <team>", "the team's budgets instead, by name or id")
    .option("--reason <text>", "the reason, for the audit log")
    .addOption(outputOption())
    .example("keyplane release-budgets research/agent --data .keyplane", "of a key of keyplane up")
    .example("keyplane release-budgets --team research --data .keyplane", "of a team")
    .action(async (named: string | undefined, { team, reason, output, ...choice }: Flags) => {
      if ((named === undefined) === (team === undefined)) {
        throw new UsageError("say whose budgets are meant: a key's, or with --team a team's");
      }
      const client = await openManagement(env, choice);
      const budgets =
        named === undefined
          ? await client.releaseBudgets("teams", (await findNamedTeam(client, team ?? "")).id, reason)
          : await client.releaseBudgets("keys", (await findNamedKey(client, named)).id, reason);
      if (output !== undefined) return out(outputText({ items: budgets }, output));
      for (const line of budgetTexts(undefined, budgets) ?? ["there are no budgets"]) out(plainText(line));
    });
};
