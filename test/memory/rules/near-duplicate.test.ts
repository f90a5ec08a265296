import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldStatement, nearnessTo, sketchOf } from "../../../memory/rules/near-duplicate.ts";

const nearness = (one: string, other: string) => nearnessTo(one)(other);

describe("near-duplicates of a statement", () => {
  test.each([
    ["Deployments roll out on Tuesdays.", "deployments  roll out on TUESDAYS"],
    ["Crème brûlée, s'il vous plaît!", "creme brulee s il vous plait"],
    ["東京の会議は月曜日です", "東京の会議は月曜日です。"],
    ["🙂", " 🙂\n"],
    ["Die Gebühr ist 5€ pro Monat", "Die Gebühr ist 5 € pro Monat."],
    ["اجتماع مُحَمَّد يوم الاثنين", "اجتماع محمد يوم الاثنين"],
    ["פגישה עם שָׁרָה מחר", "פגישה עם שרה מחר"],
    ["プリンターは三階", "ﾌﾟﾘﾝﾀｰは三階"],
    ["**Anna** is on `call`…", "Anna is on call"],
    ["The freeze of 2024-01-05 holds for 5-10 days", "The freeze of 2024‑01‑05 holds for 5 – 10 days"],
    ["Offen 2020–2024, 5.–10. Mai, 5€–10€, 5%-10%", "Offen 2020 - 2024, 5. – 10. Mai, 5€ - 10€, 5% – 10%"],
    ["- 5 apples in gpt-4 at (0711)-4711", "5 apples in gpt 4 at 0711 4711"],
    ["会议从5月-10月举行", "会议从5月 – 10月举行"],
  ])("%s is the same statement as %s", (one, other) => {
    expect(nearness(one, other)).toEqual({ similarity: 1, otherNumbers: false });
    expect(sketchOf(one)).toEqual(sketchOf(other));
  });

  test.each([
    ["The deploy freeze ends on Monday.", "The deploy freeze ended on Monday."],
    ["The deploys are not done on Fridays here.", "The deploys are not done on Friday here."],
    ["Anna prefers tea to coffee in the morning.", "Anna prefers tea over coffee in the morning."],
    ["Die Rotation der Schlüssel läuft jede Nacht.", "Die Rotation der Schlüssel lief jede Nacht."],
    ["Ключи меняются каждую ночь в дата-центре.", "Ключи менялись каждую ночь в дата-центре."],
  ])("%s is alike to %s, and found by a band", (one, other) => {
    const { similarity, otherNumbers } = nearness(one, other) ?? {};
    expect(otherNumbers).toBe(false);
    expect(similarity).toBeGreaterThanOrEqual(0.7);
    expect(similarity).toBeLessThan(1);
    const { bands } = sketchOf(other);
    expect(sketchOf(one).bands.some((band) => bands.includes(band))).toBe(true);
  });

  test.each([
    ["The kettle is on.", "Anna is on call in May."],
    ["🙂", "🙃"],
    ["word ".repeat(2_000), "word ".repeat(1_000)],
  ])("%.60s is another statement than %.60s", (one, other) => {
    expect(nearness(one, other)).toBeUndefined();
  });

  test.each([
    ["The health check of payments is on port 8080.", "The health check of payments is on port 8081."],
    ["Build 1041 failed with exit code 137.", "Build 1042 failed with exit code 137."],
    ["The invoice is over 10,000 euros.", "The invoice is over 9.500,50 euros."],
    ["The cellar has -5 degrees in winter.", "The cellar has 5 degrees in winter."],
    ["The worker pool has limit=-1 in production", "The worker pool has limit=1 in production"],
    ["The balance of the account is -$500 at the end", "The balance of the account is $500 at the end"],
    ["It was cold in the server room (-5 degrees) today", "It was cold in the server room (5 degrees) today"],
    ["The offset of the cron job is –5 hours", "The offset of the cron job is 5 hours"],
    ["Billing's setting `-1` means without a bound", "Billing's setting `1` means without a bound"],
    ["The threshold of the alarm is -.5 volts", "The threshold of the alarm is .5 volts"],
    ["The bounds of the axis are [5,-1] today", "The bounds of the axis are [5,1] today"],
    ["机房里的气温是-5度", "机房里的气温是5度"],
    ["Runs with Node v22.19.0 at least.", "Runs with Node v26.1 at least."],
    ["The certificate ends on 2026-11-20.", "The certificate ends on 2027-01-31T12:00:00Z."],
    ["The image is sha256:9f86d081884c7d65.", "The image is sha256:60303ae22b998861."],
    ["The commit a3f9c2e is deployed.", "The commit b4d1f7e is deployed."],
    ["المنفذ هو ٨٠٨٠ للدفع", "المنفذ هو ٩٠٩٠ للدفع"],
    ["支付服务监听端口8080。", "支付服务监听端口9090。"],
    ["결제 서비스는 8080번 포트를 씁니다.", "결제 서비스는 9090번 포트를 씁니다."],
    ["Сервер К123АБ стоит в зале.", "Сервер К456АБ стоит в зале."],
    ["合同在二〇二六年十一月结束，之后由财务团队续签", "合同在二〇二七年十一月结束，之后由财务团队续签"],
    [
      "バックアップは毎晩二時間かかり、その間は書き込めません",
      "バックアップは毎晩三時間かかり、その間は書き込めません",
    ],
    [
      "バックアップは毎晩一時間かかり、その間は書き込めません",
      "バックアップは毎晩十時間かかり、その間は書き込めません",
    ],
    ["机房的备用电池可以让服务器运行5千小时", "机房的备用电池可以让服务器运行5万小时"],
    ["机房的备用电池可以让服务器运行5千小时", "机房的备用电池可以让服务器运行1万5千小时"],
    ["合同金额为人民币贰拾万元整，由财务团队在年底支付", "合同金额为人民币叁拾万元整，由财务团队在年底支付"],
    [
      "契約金額は金弐百万円とし、財務チームが年末に支払います",
      "契約金額は金参百万円とし、財務チームが年末に支払います",
    ],
    ["保证金为人民币伍佰元，在合同结束之后退还", "保证金为人民币陆仟元，在合同结束之后退还"],
    ["The permit is for phase Ⅳ of the harbour works", "The permit is for phase Ⅴ of the harbour works"],
    [`${"A long statement. ".repeat(200)} It has 1.`, `${"A long statement. ".repeat(200)} It has 2.`],
  ])("%.60s is alike to %.60s but for a number, and found by what is left", (one, other) => {
    const near = nearness(one, other);
    expect(near?.otherNumbers).toBe(true);
    expect(near?.similarity).toBeLessThan(1);
    expect(sketchOf(one).numberless).toBe(sketchOf(other).numberless);
    expect(sketchOf(one).same).not.toBe(sketchOf(other).same);
  });

  test.each([
    ["เมื่อวานฉันเห็นป้าที่ตลาด", "เมื่อวานฉันเห็นป่าที่ตลาด"],
    ["राम के पास बहुत बल है", "राम के पास बहुत बिल है"],
    ["কলা খাই", "কালা খাই"],
    ["お客様はハハです", "お客様はパパです"],
  ])("%s is not the same statement as %s, where a mark makes another word", (one, other) => {
    expect(nearness(one, other)?.similarity).not.toBe(1);
    expect(sketchOf(one).same).not.toBe(sketchOf(other).same);
  });

  test.each([
    ["The billing service writes its services in C++", "The billing service writes its services in C#"],
    ["retry if status == 503", "retry if status != 503"],
    ["retry if status = 503", "retry if status ≠ 503"],
    ["Alarm if load > 5", "Alarm if load < 5"],
    ["The seat costs 5 € per month", "The seat costs 5 $ per month"],
    ["The seat costs 5 % of the price", "The seat costs 5 of the price"],
    ["Nightly build of main: ✅", "Nightly build of main: ❌"],
    ["Grade of the essay is A", "Grade of the essay is A+"],
  ])("%s is alike to %s but for a sign, and found by what is left", (one, other) => {
    const near = nearness(one, other);
    expect(near?.otherNumbers).toBe(true);
    expect(near?.similarity).toBeLessThan(1);
    expect(sketchOf(one).numberless).toBe(sketchOf(other).numberless);
    expect(sketchOf(one).same).not.toBe(sketchOf(other).same);
  });

  test.each([
    ["Deploys are allowed on Fridays here", "Deploys are not allowed on Fridays here"],
    ["The server can be restarted at night", "The server cannot be restarted at night"],
    ["The server can be restarted at night", "The server can’t be restarted at night"],
    ["Anna is on vacation: yes", "Anna is on vacation: no"],
    ["Die Rotation der Schlüssel läuft jede Nacht", "Die Rotation der Schlüssel läuft nicht jede Nacht"],
    ["Le serveur redémarre chaque nuit à trois heures", "Le serveur ne redémarre pas chaque nuit à trois heures"],
    ["Ключи меняются каждую ночь в дата-центре", "Ключи не меняются каждую ночь в дата-центре"],
    ["支付服务今天晚上会在东京的机房里重新启动", "支付服务今天晚上不会在东京的机房里重新启动"],
    ["Please deploy the billing service on Fridays", "Please dont deploy the billing service on Fridays"],
    ["Die Rotation der Schlüssel läuft jede Nacht", "Die Rotation der Schlüssel läuft keinesfalls jede Nacht"],
    ["Серверы биллинга можно перезапускать в пятницу", "Серверы биллинга нельзя перезапускать в пятницу"],
    ["周五请重启账单服务器并通知所有后端团队成员", "周五请别重启账单服务器并通知所有后端团队成员"],
    ["週五請重啟帳單伺服器並通知所有後端團隊成員", "週五請別重啟帳單伺服器並通知所有後端團隊成員"],
    ["账单服务器已在周五更新，团队可以使用新的接口", "账单服务器未在周五更新，团队可以使用新的接口"],
  ])("%s is alike to %s but for a negation, and no duplicate", (one, other) => {
    expect(nearness(one, other)?.otherNumbers).toBe(true);
    expect(nearness(other, one)?.otherNumbers).toBe(true);
  });

  test.each([
    ["账单服务器由后端团队的成员在每个周五早上九点重启", "账单服务器由后端团队的成员在每个周五早上九点特别重启"],
    ["账单服务器由后端团队的成员在每个周五早上九点重启", "账单服务器由后端团队的别人在每个周五早上九点重启"],
    ["账单服务器由后端团队的成员在每个周五早上九点重启", "账单服务器由后端团队的成员在未来周五早上九点重启"],
    ["We don't deploy the billing service on Fridays", "We dont deploy the billing service on Fridays"],
    ["账单服务器是后端团队的成员维护的重要机器", "账单服务器是后端团队的成员维护的一台重要机器"],
    [
      "支付服务的后端团队用Redis做缓存并且每天晚上备份数据到对象存储",
      "支付服务的后端团队用Redis一起做缓存并且每天晚上备份数据到对象存储",
    ],
    [
      "支付服务监听的端口是8080，一直由支付平台的后端团队负责维护和监控",
      "支付服务监听的端口是8080一直由支付平台的后端团队负责维护和监控",
    ],
    [
      "支付服务的数据库使用PostgreSQL，一般在每天晚上由运维团队备份到对象存储",
      "支付服务的数据库使用PostgreSQL一般在每天晚上由运维团队备份到对象存储",
    ],
    ["账单服务器的团队成员必须在每个周五早上参加例会", "账单服务器的团队成员必须在每个周五早上出席例会"],
  ])("%s is alike to %s, of which neither has a negation or a number more", (one, other) => {
    expect(nearness(one, other)?.otherNumbers).toBe(false);
  });

  test("other numbers are never a duplicate, and other words are none for having the same", () => {
    const word = fc.constantFrom("harbour", "port", "тест", "密钥", "crème", "of", "Anna", "build");
    const words = fc.array(word, { minLength: 1, maxLength: 20 }).map((parts) => parts.join(" "));
    const number = fc.oneof(
      fc.nat().map(String),
      fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99)).map((parts) => parts.join(".")),
      fc.tuple(fc.constantFrom("a", "f", "0"), fc.nat()).map(([letter, n]) => `${letter}${n}`),
      fc.nat(9_999).map((n) => [...String(n)].map((digit) => String.fromCodePoint(0x0660 + Number(digit))).join("")),
    );
    fc.assert(
      fc.property(words, words, number, number, (before, after, one, other) => {
        fc.pre(foldStatement(one) !== foldStatement(other));
        const [a, b] = [`${before} ${one} ${after}`, `${before} ${other} ${after}`];
        expect(nearness(a, b)).toEqual({ similarity: expect.any(Number), otherNumbers: true });
        expect(sketchOf(a).numberless).toBe(sketchOf(b).numberless);
        expect(nearness(a, a)).toEqual({ similarity: 1, otherNumbers: false });
        expect(nearness(a, b)).toEqual(nearness(b, a));
      }),
    );
  });

  test("b83: numbers are looked for in a number of steps that grows with the text", () => {
    for (const text of ["x".repeat(65_536), "x1".repeat(32_768), "1 ".repeat(32_768), "- ".repeat(32_768)]) {
      expect(nearness(`${text} 1`, `${text} 2`)?.otherNumbers, text.slice(0, 4)).toBe(true);
    }
  });

  test("b83: a letter with a million marks is folded in a number of steps that grows with them", () => {
    expect(foldStatement(`a${"\u0301".repeat(500_000)}${"\u0323".repeat(500_000)}`)).toBe("a");
    const thai = foldStatement(`ก${"\u0e48".repeat(500_000)}${"\u0e38".repeat(500_000)}`);
    expect(thai).toBe(`ก${"\u0e48".repeat(30)}`);
  });
});
