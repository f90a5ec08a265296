import { expect, test } from "vitest";
import { asksForQuantity, countsOtherwise, quantitiesOf } from "../../../../../memory/store/search/words/quantities.ts";

test.for([
  "How many days are logs kept?",
  "and how long does a session last",
  "Wie viele Schlüssel gibt es?",
  "Wieviel kostet es?",
  "Combien de jours ?",
  "Сколько дней хранятся журналы?",
  "¿Cuántos días se guardan los registros?",
  "¿Cuánto cuesta la entrada?",
  "Quantas chaves há?",
  "문은 몇 시에 열리나요",
  "입장료는 얼마인가요",
  "日志保留多少天",
  "每天几点开门",
  "門は何時に開きますか",
])("%s asks for a number of something", (question) => {
  expect(asksForQuantity(question)).toBe(true);
});

test.for([
  "",
  "Who keeps the logs, and how?",
  "Wie heißt das Tor?",
  "Comment ouvrir ?",
  "Где журналы?",
  "¿Dónde están los registros?",
  "Onde estão as chaves?",
  "열쇠는 어디에 있나요",
  "日志在哪里",
  "門はどこですか",
])("%s asks for none", (question) => {
  expect(asksForQuantity(question)).toBe(false);
});

test.for([
  ["Logs are kept for 30 days.", "We keep logs fourteen days only."],
  ["Eine Sitzung dauert zwölf Stunden.", "Sitzungen: acht Stunden."],
  ["La pause dure 15 minutes.", "Vingt minutes de pause."],
  ["Журнал хранится 30 дней.", "Хранится десять дней."],
  ["La pausa dura quince minutos.", "Veinte minutos de pausa."],
  ["As cópias ficam trinta dias.", "Guardam-se dez dias."],
  ["문은 7시에 열린다.", "9시부터 연다."],
  ["误差超过二十克", "放宽到五十克"],
  ["一人2个月", "一人三个月"],
  ["10% of the calls", "25 % of the calls"],
] as const)("%s and %s count the same and differ", ([one, other]) => {
  expect(countsOtherwise(quantitiesOf(one), quantitiesOf(other))).toBe(true);
});

test.for([
  ["", ""],
  ["Kept for 30 days.", "Kept for 30 days, as the auditors wish."],
  ["Kept for 30 days.", "Kept by 14 people."],
  ["Kept for 7 or 30 days.", "Kept for 30 days."],
  ["It runs on host 7 b.", "It runs on host 8 b."],
  ["문은 7시에 열린다.", "문은 7시부터 연다."],
  ["误差超过二十克", "每季度一次"],
] as const)("%s and %s do not", ([one, other]) => {
  expect(countsOtherwise(quantitiesOf(one), quantitiesOf(other))).toBe(false);
});
