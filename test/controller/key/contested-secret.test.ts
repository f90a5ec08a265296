import { describeWorlds } from "../fixtures/setup.ts";
import { contested } from "./contested-secret.ts";

describeWorlds("a Secret that is deleted again and again", contested);
