import { isSubject, SUBJECT_CHARACTERS } from "../../domain/access/subject.ts";
import type { AddCommand } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { openManagement, type ServerChoice, serverOptions } from "../management/management-client.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { findLibrary } from "./named-library.ts";

type Flags = ServerChoice & {
  readonly library?: string;
  readonly reason?: string;
  readonly output?: StructuredFormat;
};

/** Adds `keyplane memory-erase-subject`, which erases all that a library has of a subject, permanently. */
export const addMemoryEraseSubject: AddCommand = (program, { env, out }) => {
  serverOptions(
    program
      .command("memory-erase-subject")
      .description("erase a subject's memory in a library at once and permanently")
      .argument("<subject>", "the subject, as memory-subjects lists it"),
  )
    .option("--library <name>", "the library: NAME, NAMESPACE/NAME or id; also a retained one")
    .option("--reason <text>", "the reason, for the audit log")
    .addOption(outputOption())
    .example(
      "keyplane memory-erase-subject user-4711 --library handbook --data .keyplane",
      "in a library of keyplane up; shared atoms stay",
    )
    .action(async (subject: string, { library: named, reason, output, ...choice }: Flags) => {
      if (!isSubject(subject)) {
        throw new UsageError(`a subject has ${SUBJECT_CHARACTERS}`);
      }
      const client = await openManagement(env, choice);
      const { id, name } = await findLibrary(client, named);
      const erased = await client.eraseSubject(id, subject, reason);
      if (output !== undefined) return out(outputText({ erased }, output));
      out(
        erased
          ? `Erased: library ${name} has nothing of ${subject} any more.`
          : `Library ${name} has nothing of ${subject}.`,
      );
    });
};
