"""
How often encoding detectors are right, on short texts in many languages and encodings.

Run it with `python -m benchmarks.encodings`. Each text is read whole and as its first 60
characters. Other detectors are measured where they are installed.
"""

from collections.abc import Callable, Iterator

import typer

from ccrag.corpus.readers.encodings import decode_page

# The first article of the Universal Declaration of Human Rights, and a sentence of a manual.
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "German": (
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Ve"
        "rnunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begeg"
        "nen. Der Kühlwasserdruck ist täglich zu prüfen, größere Abweichungen müssen sofo"
        "rt gemeldet werden.",
        ("cp1252",),
    ),
    "French": (
        "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils son"
        "t doués de raison et de conscience et doivent agir les uns envers les autres dan"
        "s un esprit de fraternité. L’œuvre coûte 20 € et a été livrée à l’été dernier.",
        ("cp1252",),
    ),
    "Spanish": (
        "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados"
        " como están de razón y conciencia, deben comportarse fraternalmente los unos con"
        " los otros. ¿Cuándo llegará el próximo año? Mañana será otro día.",
        ("cp1252",),
    ),
    "Portuguese": (
        "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotado"
        "s de razão e de consciência, devem agir uns para com os outros em espírito de fr"
        "aternidade. A pressão não está no nível padrão da instalação.",
        ("cp1252",),
    ),
    "Italian": (
        "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono "
        "dotati di ragione e di coscienza e devono agire gli uni verso gli altri in spiri"
        "to di fratellanza. Perché la città è così lontana? La qualità però è già più alt"
        "a.",
        ("cp1252",),
    ),
    "Swedish": (
        "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats "
        "med förnuft och samvete och bör handla gentemot varandra i en anda av gemenskap."
        " Bilen går på vägen från Göteborg till Malmö.",
        ("cp1252",),
    ),
    "Danish": (
        "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret m"
        "ed fornuft og samvittighed, og de bør handle mod hverandre i en broderskabets ån"
        "d. Færgen sejler på lørdag fra København.",
        ("cp1252",),
    ),
    "Finnish": (
        "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. He"
        "ille on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan velj"
        "eyden hengessä. Tämä käyttöohje säilytetään läheisyydessä.",
        ("cp1252",),
    ),
    "English quotes": (
        "The “cooling pump” doesn’t start – it costs £20 or €25 … see the naïve café’s ré"
        "sumé. All human beings are born free and equal in dignity and rights. They are e"
        "ndowed with reason and conscience and should act towards one another in a spirit"
        " of brotherhood.",
        ("cp1252",),
    ),
    "Polish": (
        "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. "
        "Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu b"
        "raterstwa. Żółta łódź płynie wzdłuż rzeki, a ciśnienie wody rośnie.",
        ("cp1250", "iso-8859-2"),
    ),
    "Czech": (
        "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni"
        " rozumem a svědomím a mají spolu jednat v duchu bratrství. Žluťoučký kůň pěl ďáb"
        "elské ódy, tlak vody se měří každý týden.",
        ("cp1250", "iso-8859-2"),
    ),
    "Hungarian": (
        "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az embere"
        "k, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell "
        "hogy viseltessenek. A hűtővíz nyomását időről időre ellenőrizni kell.",
        ("cp1250", "iso-8859-2"),
    ),
    "Turkish": (
        "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana"
        " sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler."
        " Soğutma suyunun basıncı her gün ölçülmeli, değişiklikler bildirilmelidir.",
        ("cp1254", "iso-8859-9"),
    ),
    "Russian": (
        "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделе"
        "ны разумом и совестью и должны поступать в отношении друг друга в духе братства."
        " Давление охлаждающей воды проверяется каждый день.",
        ("cp1251", "koi8-r", "iso-8859-5", "cp866"),
    ),
    "Ukrainian": (
        "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділе"
        "ні розумом і совістю і повинні діяти у відношенні один до одного в дусі братерст"
        "ва. Тиск охолоджувальної води перевіряють щодня, її рівень теж.",
        ("cp1251", "koi8-u"),
    ),
    "Bulgarian": (
        "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с "
        "разум и съвест и следва да се отнасят помежду си в дух на братство. Налягането н"
        "а охлаждащата вода се проверява всеки ден.",
        ("cp1251", "iso-8859-5"),
    ),
    "Greek": (
        "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώμα"
        "τα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται "
        "μεταξύ τους με πνεύμα αδελφοσύνης. Η πίεση ελέγχεται κάθε μέρα.",
        ("cp1253", "iso-8859-7"),
    ),
    "Hebrew": (
        "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון,"
        " לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה. לחץ המים נבדק בכל יום ונרשם ביו"
        "מן.",
        ("cp1255", "iso-8859-8"),
    ),
    "Arabic": (
        "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم "
        "أن يعامل بعضهم بعضا بروح الإخاء. يتم فحص ضغط المياه كل يوم ويسجل في الدفتر.",
        ("cp1256", "iso-8859-6"),
    ),
    "Thai": (
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและม"
        "โนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
        ("cp874",),
    ),
    "Chinese simplified": (
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相"
        "对待。冷却水的压力必须每天检查，并记录在日志中。软件安装完成以后请重新启动计算机"
        "。",
        ("gb18030", "gbk"),
    ),
    "Chinese traditional": (
        "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相"
        "對待。冷卻水的壓力必須每天檢查，並記錄在日誌中。軟體安裝完成以後請重新啟動電腦。",
        ("big5",),
    ),
    "Japanese": (
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等であ"
        "る。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければ"
        "ならない。冷却水の圧力は毎日点検してください。",
        ("cp932", "euc_jp", "iso2022_jp"),
    ),
    "Korean": (
        "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. "
        "인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동"
        "하여야 한다. 냉각수의 압력은 매일 점검해야 한다.",
        ("cp949", "euc_kr"),
    ),
    "UTF-16 English": (
        "All human beings are born free and equal in dignity and rights. They are endowed"
        " with reason.",
        ("utf-16-le", "utf-16-be"),
    ),
    "UTF-16 Russian": (
        "Все люди рождаются свободными и равными в своем достоинстве и правах.",
        ("utf-16-le",),
    ),
    "a list of changes": (
        "Changes by José Núñez, François Lefèvre and Søren Ærø\n" + "  * fix the build\n" * 60,
        ("cp1252",),
    ),
}
"""Text and its encodings, by language."""


def samples() -> Iterator[tuple[str, str, bytes, str]]:
    """Language, encoding, bytes, and the text they stand for."""
    for language, (text, encodings) in TEXTS.items():
        for encoding in encodings:
            for part in (text, text[:60]):
                data = part.encode(encoding, "ignore")
                yield language, encoding, data, data.decode(encoding)


def _ours(data: bytes) -> str:
    return decode_page(data)[0]


def _chardet(data: bytes) -> str:
    import chardet

    return _decoded(data, chardet.detect(data)["encoding"])


def _charset_normalizer(data: bytes) -> str:
    import charset_normalizer

    best = charset_normalizer.from_bytes(data).best()
    return _decoded(data, best.encoding if best else None)


def _decoded(data: bytes, encoding: str | None) -> str:
    return data.decode(encoding or "utf-8", "replace")


DETECTORS: dict[str, Callable[[bytes], str]] = {
    "decode_page": _ours,
    "chardet": _chardet,
    "charset_normalizer": _charset_normalizer,
}


def main() -> None:
    """Print, for each detector, how many samples it reads right and which it does not."""
    total = sum(1 for _ in samples())
    for name, detector in DETECTORS.items():
        try:
            wrong = [
                f"{lang} {enc}" for lang, enc, data, text in samples() if detector(data) != text
            ]
        except ImportError:
            typer.echo(f"{name}: not installed")
            continue
        typer.echo(f"{name}: {total - len(wrong)} of {total} right; wrong: {', '.join(wrong)}")


if __name__ == "__main__":
    typer.run(main)
