import { describeOnEachEngineWithVectors } from "../../../env/database/engines.ts";
import { alikeInMeaning } from "./alike.ts";
import { passagesOfLongAtoms } from "./passages.ts";
import { endsOfLeases } from "./settle-embedding.ts";
import { subjectsInEmbeddedLibraries } from "./subjects.ts";

/** One after the other on one database: to open an embedded one takes as long as all tests of a module. */
describeOnEachEngineWithVectors("The vectors of the memory", (store) => {
  alikeInMeaning(store);
  endsOfLeases(store);
  subjectsInEmbeddedLibraries(store);
  passagesOfLongAtoms(store);
});
