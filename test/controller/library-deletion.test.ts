import { describeWorlds } from "./fixtures/setup.ts";
import { largeLibrary } from "./library-deletion.ts";

describeWorlds("a large library", largeLibrary);
