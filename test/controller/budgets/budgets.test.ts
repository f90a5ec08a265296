import { describeWorlds } from "../fixtures/setup.ts";
import { withUsedBudgets } from "./budgets.ts";

describeWorlds("an object whose budget is used", withUsedBudgets);
