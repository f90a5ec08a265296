import { foldText } from "./folded-text.ts";
import { flatten } from "./search-words.ts";

/**
 * Words by which people say that something is not as it was: from now on, not any more, in place of, and the usual verbs
 * of changing, replacing, moving, ending, raising and lowering. `*` stands for any ending, `_` for any word.
 */
const SPACED = {
  english: `now, from here on, from then on, henceforth, no longer, any more, anymore, no more, instead, since, formerly,
    previously, used to, until recently, as of, changed, changes to, moved, moves to, switched, replaced, replaces, renamed,
    migrated, became, becomes, update, updated, corrected, correction, stopped, ended, dropped, canceled, cancelled,
    discontinued, abolished, raised, lowered, increased, reduced, extended, shortened`,
  german: `jetzt, nun, nunmehr, ab sofort, künftig, inzwischen, mittlerweile, nicht mehr, kein _ mehr, keine _ mehr,
    keinen _ mehr, nur noch, statt, stattdessen, anstelle, seit, seitdem, früher, bisher, bislang, geändert, umgestellt,
    gewechselt, wechselt, ersetzt, verlegt, verschoben, umgezogen, umbenannt, abgeschafft, eingestellt, erhöht, gesenkt,
    verlängert, verkürzt, korrektur, aktualisiert`,
  french: `maintenant, désormais, dorénavant, n'est plus, n'a plus, ne _ plus, n'y a plus, plus de, plus d', au lieu,
    à la place, depuis, auparavant, jusqu'ici, jusque-là, a changé, ont changé, change de, remplace, remplacé*, déplacé*,
    passe à, passé à, passée à, devient, devenu*, renommé*, supprimé*, abandonné*, augmenté*, réduit*, baissé*, prolongé*,
    ramené*, corrigé*, mise à jour`,
  spanish: `ahora, ya no, desde ahora, desde entonces, de ahora en adelante, en adelante, a partir de, a partir del,
    en lugar de, en vez de, hasta ahora, anteriormente, ha cambiado, han cambiado, cambió, cambiaron, cambia a, pasa a,
    pasan a, pasó a, pasaron a, pasamos a, sustituid*, sustituye, reemplaz*, trasladad*, renombrad*, suprimid*, eliminad*,
    anulad*, cancelad*, dejó de, dejamos de, aumentad*, aumentó, sube a, subió, reducid*, redujo, baja a, bajó, ampliad*,
    prolongad*, acortad*, corregid*, actualizad*`,
  portuguese: `agora, já não, não _ mais, daqui em diante, doravante, a partir de, a partir do, a partir da, em vez de,
    em lugar de, no lugar de, até agora, até aqui, anteriormente, mudou, mudaram, alterad*, alterou, passa a, passam a,
    passou a, passaram a, passa para, passou para, substituíd*, substitui, substituiu, trocad*, trocou, transferid*,
    renomead*, suprimid*, eliminad*, abolid*, cancelad*, deixou de, aumentad*, aumentou, subiu, reduzid*, reduziu, baixou,
    prolongad*, encurtad*, corrigid*, atualizad*`,
  russian: `теперь, отныне, больше не, уже не, вместо, с тех пор, впредь, раньше, прежде, до сих пор, измен*, поменя*,
    перенес*, замен*, переш*, переех*, смени*, отмен*, прекрат*, прекращ*, повыси*, повыш*, снизи*, сниж*, увелич*, уменьш*,
    продл*, сократ*, сокращ*`,
};
/** Words of scripts without spaces, and of Korean, whose endings are part of the word: they may stand anywhere. */
const RUNS = {
  chinese: `现在, 如今, 从此, 今后, 不再, 改为, 改成, 改到, 改用, 改由, 换成, 换到, 变成, 变为, 调整为, 搬到, 移到, 取消, 停用,
    停止, 代替, 取代, 提高到, 降到, 延长, 缩短, 以前, 原来, 原先, 之前的`,
  japanese: `今は, 今では, 今後, 以後, もう, なくな, ではなく, 代わりに, 以前, これまで, 従来, 変わ, 変更, 変え, 切り替, 移転,
    移行, 移した, 移っ, やめ, 廃止, 終了, になった, 引き上げ, 引き下げ, 延長, 短縮`,
  korean: `이제, 지금은, 앞으로, 더 이상, 더는, 대신, 이전에는, 예전, 종전, 바뀌, 바뀐, 바꾸, 바꿨, 변경, 옮기, 옮긴, 옮겼,
    이전했, 이전하, 교체, 전환, 중단, 폐지, 취소, 종료, 인상, 인하, 늘렸, 늘어, 줄였, 줄어, 연장, 단축, 정정`,
};
const CHANGE = new RegExp(`${anyOf(SPACED, " ")}|${anyOf(RUNS, "")}`);

/** True if a text says by its words, in one of nine languages, that something has changed. */
export function saysChange(text: string): boolean {
  return CHANGE.test(` ${flatten(text)} `);
}

function anyOf(words: Readonly<Record<string, string>>, edge: string): string {
  const each = Object.values(words).flatMap((list) => list.split(",").map(patternOf));
  return `${edge}(?:${each.join("|")})${edge}`;
}

function patternOf(words: string): string {
  const parts = words.trim().split(/[\s'-]+/);
  const written = parts.filter((part) => part !== "").map((part) => foldText(part).replace("*", "[^ ]*"));
  return written.map((part) => (part === "_" ? "[^ ]+" : part)).join(" ");
}
