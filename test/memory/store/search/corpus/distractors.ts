/** Words that atoms are made of which answer nothing: as people write them, none of a question's own. */
const WORDS: readonly { readonly between: string; readonly words: readonly string[] }[] = [
  {
    between: " ",
    words:
      `the a of to in is and for with on by at from as that this it we they our their its be are was were has have had
      will would should may must can not only also when while after before until because than then how where which what who
      do does did team project meeting schedule customer report review design button colour page form field value number list
      table column window screen branch commit merge pipeline build artifact version package module function class method test
      server client request response header body message event stream topic partition broker cluster container image volume
      network address domain account user role group permission policy budget cost price order shipment warehouse supplier
      contract office travel ticket hotel breakfast coffee garden bicycle weather summer winter morning evening week month
      slowly quickly usually seldom changes keeps needs uses makes moves writes reads opens starts stops`.split(/\s+/),
  },
  {
    between: " ",
    words:
      `der die das ein eine und oder aber nicht nur auch wenn während nach vor bis weil als dann wie wo welche was wer ist
      sind war hat haben wird werden soll muss kann wir sie ihr unser von zu in im mit auf bei aus für über unter am Projekt
      Besprechung Termin Kunde Bericht Entwurf Farbe Seite Formular Feld Wert Liste Tabelle Spalte Bildschirm Zweig Paket Baustein
      Prüfung Rechner Antwort Nachricht Ereignis Netz Adresse Konto Rolle Gruppe Richtlinie Kosten Preis Bestellung Lager
      Hersteller Bahn Reise Hotel Frühstück Kaffee Garten Fahrrad Wetter Sommer Winter Morgen Abend Woche langsam schnell
      gewöhnlich selten ändert braucht nutzt macht schreibt liest öffnet beginnt endet Gebäude Werkzeug Versand Abteilung
      Ausschuss Bildung Zeichnung Rahmen Muster Ordner Leitung Anlage Umbau Vorgang Ergebnis Aufgabe`.split(/\s+/),
  },
  {
    between: " ",
    words:
      `и в не на с что как по это но из за к от для о у же или если когда пока после до потому чем тогда где какой кто
      мы они наш их был была были есть будет надо может только также проект встреча график отзыв страница форма поле значение
      список таблица столбец экран ветка сборник модуль проверка ответ событие сеть группа правило бюджет цена заказ груз завод
      отпуск гостиница завтрак сад велосипед погода лето зима утро вечер неделя медленно быстро обычно редко меняет нужен
      использует делает пишет читает открывает начинает кончает команда рисунок окно кнопка цвет строка задача итог поездка
      билет музей река улица мост площадь книга урок школа рынок хлеб соль чай`.split(/\s+/),
  },
  {
    between: "",
    words:
      `我们 他们 项目 会议 计划 用户 页面 表单 字段 数值 列表 表格 窗口 屏幕 分支 提交 合并 流程 模块 函数 方法 测试 请求
      响应 消息 事件 网络 地址 账号 角色 小组 权限 政策 预算 成本 价格 订单 货物 工厂 出差 酒店 早餐 咖啡 花园 自行车 天气 夏天 冬天
      早上 晚上 星期 慢慢 很快 通常 很少 改变 需要 使用 制作 移动 写 读 打开 开始 停止 的 是 在 了 和 与 或 不 也 都 就 对 为 由 从 到
      可以 应该 必须 已经 还 再 最 每 个 次 天 后 前 中 上 下 时 因为 所以 如果 但是 然后 什么 哪里 怎么 谁`.split(
        /\s+/,
      ),
  },
  {
    between: "",
    words:
      `私たち 彼ら 計画 会社 利用 画面 用紙 項目 数値 一覧 表 窓 枝 手順 部品 方法 試験 要求 応答 通知 出来事 回線 住所
      口座 役割 班 権限 方針 予算 費用 価格 注文 荷物 工場 出張 宿 朝食 コーヒー 庭 自転車 天気 夏 冬 朝 夜 週 ゆっくり すぐ 普通
      まれ 変える 使う 作る 動かす 書く 読む 開く 始める 止める の は が を に で と も から まで です ます した する して いる ある ない
      こと もの ため とき よう なら また そして しかし いつ どこ どう だれ 何 これ それ 今日 明日 昨日 人 時 分 前 後 中`.split(
        /\s+/,
      ),
  },
];

/** As many sentences as are asked for, the languages in turn; the same ones each time. */
export function distractors(count: number): string[] {
  let state = 20_261_121;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return Array.from({ length: count }, (_, n) => {
    const { between, words } = WORDS[n % WORDS.length] ?? { between: " ", words: ["nothing"] };
    const length = 8 + below(18);
    return `${Array.from({ length }, () => words[below(words.length)]).join(between)}${between === "" ? "。" : "."}`;
  });
}
