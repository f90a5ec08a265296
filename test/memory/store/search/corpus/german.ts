import { type Entry, entry } from "./corpus.ts";

export const GERMAN: readonly Entry[] = [
  entry("Die API-Schlüsselrotation läuft jeden ersten Montag und dauert höchstens zehn Minuten.", [
    ["part", "Schlüssel"],
    ["accent", "Schluesselrotation"],
    ["accent", "schlusselrotation"],
    ["question", "Wann werden die Schlüssel rotiert?"],
  ]),
  entry("Das Rechenzentrum in Frankfurt bekommt im März eine neue Notstromversorgung.", [
    ["part", "Notstrom"],
    ["part", "Versorgung"],
    ["accent", "Marz"],
  ]),
  entry("Kundenrechnungen werden am letzten Werktag des Monats verschickt.", [
    ["part", "Rechnungen"],
    ["inflection", "Kundenrechnung"],
    ["prefix", "Kundenrech"],
  ]),
  entry("Für die Datensicherung ist Frau Petersen zuständig, in ihrem Urlaub Herr Größmann.", [
    ["question", "Wer kümmert sich um die Datensicherung?"],
    ["accent", "Groessmann"],
    ["typo", "Datensichreung"],
  ]),
  entry("Der Lastverteiler verwirft Anfragen, deren Kopfzeilen größer als 16 KB sind.", [
    ["part", "Verteiler"],
    ["inflection", "Anfrage Kopfzeile"],
  ]),
  entry("Urlaubsanträge gehen über das Personalportal, nicht per E-Mail.", [
    ["inflection", "Urlaubsantrag"],
    ["part", "Personal"],
  ]),
  entry("Die Straße vor dem Büro ist bis Mitte Juni gesperrt, Lieferungen kommen über den Hof.", [
    ["accent", "Strasse gesperrt"],
    ["typo", "Leiferungen Hof"],
  ]),
  entry("Der Suchindex wird nachts neu aufgebaut, weil das Wörterbuch sich ändert.", [
    ["prefix", "Suchind"],
    ["inflection", "Wörterbücher"],
  ]),
  entry("Häuser mit Denkmalschutz brauchen ein eigenes Formular, siehe formulare/denkmal.pdf.", [
    ["inflection", "Haus Denkmal"],
    ["code", "formulare/denkmal.pdf"],
  ]),
  entry("Das Kennwort für den Gastzugang hängt in der Küche.", [
    ["typo", "Gastzugnag"],
    ["accent", "Kuche Kennwort"],
  ]),
  entry("Kündigungen müssen zwei Wochen vor Monatsende im Vertragsarchiv liegen.", [
    ["inflection", "Kündigung"],
    ["part", "Archiv"],
  ]),
  entry("Die Grenzwerte für den Arbeitsspeicher stehen in betrieb/grenzwerte.toml.", [
    ["code", "grenzwerte.toml"],
    ["part", "Speicher"],
  ]),
  entry("Bei Störungen zuerst die Leitstelle unter 4711 anrufen.", [
    ["question", "Wen soll ich bei einer Störung anrufen?"],
  ]),
  entry("Der Vertrag mit dem Netzbetreiber verlängert sich stillschweigend um ein Jahr.", [["prefix", "Netzbetr"]]),
  entry("Testgeräte werden im Schrank neben dem Aufzug aufbewahrt.", [
    ["inflection", "Testgerät"],
    ["typo", "Aufzgu Schrank"],
  ]),
  entry("Die Mandantentrennung geschieht in der Datenbank, nicht in der Anwendung.", [
    ["part", "Trennung"],
    ["prefix", "Mandanten"],
  ]),
  entry("Wir schreiben Fehlermeldungen in der Sprache der Nutzerin.", [["inflection", "Fehlermeldung"]]),
  entry("Der Fahrstuhl fährt nur mit Ausweis in den vierten Stock.", [["source", "hausordnung"]], {
    tags: ["hausordnung"],
  }),
  entry("Die Miete für das Lager steigt ab Oktober.", [["source", "mietvertrag-2026.pdf"]], {
    source: "ablage/mietvertrag-2026.pdf",
  }),
  entry("Protokolle bleiben neunzig Tage, danach löscht sie der Aufräumdienst.", [["typo", "Protkolle"]]),
  entry("Das Wartungsfenster ist sonntags von drei bis fünf Uhr.", [["part", "Fenster Wartung"]]),
  entry("Die Übersetzungen liefert ein Büro in Łódź.", [["accent", "Lodz"]]),
  entry("Die Nutzerumfrage ergab, dass die Filterleiste kaum jemand findet."),
  entry("Der Aktenvernichter wird quartalsweise geleert."),
  entry("Zertifikate erneuert der Dienst certwächter vier Wochen vor Ablauf.", [["part", "wächter"]]),
  entry("Preise werden kaufmännisch gerundet."),
  entry("Im Lager West gilt eine andere Artikelnummer als im Katalog."),
  entry("Der Einkauf bestellt Monitore nur noch mit USB-C."),
  entry("Die Bushaltestelle heißt seit Mai Technologiepark."),
  entry("Das Betriebsfest findet am Seeufer statt."),
];
