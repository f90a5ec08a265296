import { expect, test } from "vitest";
import { saysChange } from "../../../../../memory/store/search/words/words-of-change.ts";

test.for([
  "The gate opens at seven now.",
  "NO LONGER valid: the blue form",
  "Paper is used instead of plastic.",
  "Das Tor öffnet künftig um sieben.",
  "Es gibt keine Schlüssel mehr.",
  "Le portail n'ouvre plus le lundi ; il n\u2019est plus gardé.",
  "Désormais, on sonne.",
  "Réunion déplacée au mardi",
  "Теперь ворота открываются в семь.",
  "Дежурство перенесли на вторник.",
  "Ahora la puerta se abre a las siete.",
  "El portal ya no se cierra por la noche.",
  "A partir de enero hay que llamar al timbre.",
  "O portão passou a abrir às sete.",
  "Já não há chaves na portaria.",
  "이제 문은 일곱 시에 열린다.",
  "회의가 화요일로 변경되었다.",
  "大门改为七点打开。",
  "門は七時に開くように変わりました。",
])("%s says that something has changed", (text) => {
  expect(saysChange(text)).toBe(true);
});

test.for([
  "",
  "The gate opens at seven.",
  "Nowhere is snow known to be sincere.",
  "Das Tor öffnet um sieben, mehr weiß ich nicht.",
  "Le portail ouvre à sept heures, et il y en a plusieurs.",
  "Ворота открываются в семь.",
  "La puerta se abre a las siete, antes que las demás; desde la calle se ve.",
  "O portão abre às sete, antes dos outros.",
  "문은 일곱 시 이전에 열린다.",
  "大门七点打开。",
  "門は七時に開く。",
])("%s says nothing of a change", (text) => {
  expect(saysChange(text)).toBe(false);
});
