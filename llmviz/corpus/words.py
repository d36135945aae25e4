"""The words of tiny-world, by category: what a story may be about.

Every category is one line of plain words. A choice in a story is nearly always uniform over one
category, so a word's probability can be read off the length of its line. Words that would be read
two ways (the orange orange, Turkey the turkey) are left out.
"""

from functools import cache

_WORDS = {
    "girls": """Ada Agnes Alba Alice Alma Amelia Anna Anya Astrid Aurora Beatrix Bella Bertha Bianca
        Bridget Camille Cara Carmen Cecily Celia Chloe Clara Cora Dahlia Daphne Delia Dora Edith
        Elena Elise Ella Elsa Emma Esme Esther Eva Fatima Fiona Freya Gemma Gerda Greta Hanna Hedwig
        Heidi Helga Hilda Ida Imani Ingrid Irene Isla Ivana Jana Jessa Johanna Julia Kamala Katya
        Keiko Lara Leila Lena Leona Lila Linnea Lotta Lucia Mabel Maeve Maja Marta Matilda Mina Mira
        Nadia Naomi Nella Nina Nora Odette Olga Paloma Petra Phoebe Priya Ramona Runa Sabina Selma
        Signe Tamara Tessa Thea Ursula Vera Wilma Yara Yuki Zelda Zoe""",
    "boys": """Abel Adam Albert Amir Anders Anton Archie Arlo Axel Barnaby Benno Bertil Boris Bruno
        Caleb Casper Cedric Claus Cosmo Cyrus Dario Dexter Diego Dimitri Edgar Edmund Edwin Elias
        Emil Enzo Erik Ernest Ezra Felix Fergus Finn Florian Franz Fritz Gaston George Gideon Gregor
        Gustav Hamid Hannes Hari Harold Hector Henrik Hugo Igor Ivo Jakob Jasper Joel Jonas Josef
        Julian Kai Kaspar Kenji Lars Leon Linus Lorenz Lucas Magnus Malik Marco Marius Mateo Milo
        Moritz Nils Noah Olaf Omar Orlando Oscar Otis Otto Pablo Pascal Percy Quentin Rafael Ravi
        Roman Rufus Samir Silas Simon Stefan Sven Tariq Tobias Umberto Viktor Waldo Walter Xavier
        Yusuf Zoltan""",
    "jobs": """acrobat archer astronomer baker barber beekeeper blacksmith bookbinder brewer
        bricklayer builder butcher carpenter chemist clerk clockmaker clown cobbler cook dancer
        dentist diver doctor drummer dyer engineer explorer farmer ferryman fiddler fisher florist
        forester gardener glazier goldsmith grocer guard hatter hunter innkeeper inventor jeweller
        joiner judge juggler knight lacemaker lawyer librarian locksmith magician mason mechanic
        merchant messenger milkmaid miller miner musician nurse painter perfumer pilot piper plumber
        poet porter postman potter printer puppeteer ropemaker saddler sailor scholar sculptor
        singer soldier spinner surgeon surveyor tailor tanner teacher thatcher tiler tinker trapper
        vet watchman weaver whaler woodcutter writer""",
    "settlements": """city hamlet village town settlement colony suburb district parish""",
    "places": """abbey airport arena attic bakery bank barn bathhouse brewery bridge camp canal cave
        cellar chapel church cinema circus clinic cloister college cottage courtyard dairy dock
        embassy factory fair farm forge fort fountain gallery garage garden granary greenhouse
        harbour hospital hotel hut inn island jetty kitchen laboratory laundry library lighthouse
        lodge market marsh mill mine monastery museum nursery observatory office orchard palace park
        pasture pavilion pharmacy pier playground prison quarry ranch restaurant school shipyard
        shrine smithy stable stadium station studio temple theatre tower tunnel vineyard warehouse
        well windmill workshop zoo""",
    "features": """bay beach bog canyon cliff coast creek crossroads delta desert dune forest
        glacier gorge heath hedge hill lagoon lake meadow moor mountain oasis pond reef ridge river
        sea shore stream swamp valley volcano waterfall wood""",
    "things": """almanac anchor basket bell bellows blanket book bottle bowl bracelet brooch bucket
        buckle button calendar camera candle candlestick card carpet casket chalice charm chessboard
        cloth coin compass cork cup cushion dagger diamond dice dictionary doorknob egg envelope
        eraser fan feather figurine flag flask goblet hammock handkerchief harpoon helmet hook
        hourglass inkwell jar jug kettle key knapsack ladle lamp lantern leaf lens locket magnet map
        marble mask mat medal mirror mug napkin necklace needle net newspaper notebook oar padlock
        painting pan paperweight parasol parcel pearl pen pencil photograph pillow pipe pitcher
        plate plough postcard pot pouch purse puzzle quilt rattle razor ribbon ring rope sack saddle
        sail scroll shell shield sieve skull sled spear sponge spoon spyglass stamp statue stone
        suitcase sundial sword tablecloth tapestry teapot telescope thimble ticket torch towel tray
        trophy trunk urn vase wallet watch wheel whip wig wreath""",
    "furniture": """armchair bathtub bed bench bookcase cabinet carriage chair chest chimney closet
        cooker couch cradle crate cupboard curtain desk dresser fence fireplace gate haystack ladder
        lectern mantelpiece oven piano pulpit rug shelf sofa stairs stool stove table throne wagon
        wardrobe woodpile""",
    "colours": """red blue green yellow white black brown grey purple pink golden silver crimson
        turquoise scarlet violet beige ivory maroon indigo""",
    "sizes": """tiny small little large big huge""",
    "food": """bacon barley biscuits bread broth butter cabbage cake caramel carrots celery cheese
        chestnuts chocolate chowder corn crackers cream custard dumplings fudge garlic gingerbread
        gravy ham honey jam jelly lentils lettuce macaroni marmalade marzipan meatballs mince
        muffins mushrooms mustard noodles nougat oatmeal omelette onions pancakes pasta pastry peas
        pepper pickles pie pizza popcorn porridge potatoes pudding pumpkin radishes ravioli rice
        rolls salad salmon salt sandwiches sauce sausages scones seaweed semolina shrimp soup
        spaghetti spinach stew strudel sugar syrup toast toffee tofu trout tuna turnips vinegar
        waffles walnuts yoghurt""",
    "fruits": """apples apricots bananas blackberries blueberries cherries coconuts cranberries
        currants dates figs gooseberries grapes lemons limes mangoes melons nectarines olives
        papayas peaches pears pineapples plums quinces raisins raspberries strawberries tangerines
        tomatoes""",
    "qualities": """amazing ancient awful battered beautiful bitter blurry bold boring brave brittle
        broken busy calm careful charming clever clumsy common cosy crooked crumpled curious
        dangerous dazzling delicate distant dreadful dusty elegant enormous excellent faithful
        famous fancy fearless fierce foolish forgotten fragile frozen funny fuzzy gentle ghostly
        glorious graceful grand greedy grim handsome harmless haunted heroic hidden hollow honest
        humble ideal innocent jolly kind lazy legendary lively lonely lovely loyal lucky magical
        marvellous mighty modest mysterious naughty neat noble odd ordinary patient peaceful
        peculiar perfect playful plain pleasant polite precious pretty quaint rare reliable ripe
        rough royal rusty sacred secret serious shabby shiny shy silent silly sleepy slender sly
        smooth solemn special splendid stern strange stubborn sturdy superb tall tame tender
        terrible tidy timid tough tricky ugly unusual useful valuable vivid wicked wild wise
        wonderful worthless young""",
    "feelings": """afraid amused angry annoyed anxious ashamed bewildered bored brisk cheerful
        confident confused content cross delighted determined disappointed dizzy drowsy eager
        embarrassed envious excited exhausted faint free frightened furious glad gloomy grateful
        guilty helpless homesick hopeful hungry impatient inspired jealous joyful merry miserable
        nervous optimistic proud puzzled relaxed relieved restless sad safe satisfied scared sick
        sorry startled strong stunned surprised suspicious thirsty thoughtful tired troubled uneasy
        upset weak weary worried""",
    "adverbs": """alone aloud awkwardly blindly boldly bravely brightly briskly calmly carefully
        carelessly cautiously cheerfully clumsily dreamily eagerly easily elegantly endlessly
        faithfully fiercely fondly gently gladly gracefully gratefully happily hastily honestly
        impatiently indoors joyfully kindly lazily loudly madly merrily modestly nervously nicely
        noisily outdoors patiently peacefully perfectly playfully politely proudly quickly quietly
        rapidly sadly secretly seriously sharply silently sleepily slowly slyly smoothly softly
        solemnly steadily sternly strangely suddenly sweetly swiftly tenderly thoughtfully together
        warmly wearily wildly wisely""",
    "motion": """climbed crawled crept cycled danced dashed drifted drove galloped hiked hopped
        hurried jogged limped marched paddled raced rowed rushed sailed skated skipped sneaked
        sprinted staggered strolled tiptoed trotted trudged walked wandered""",
    "acts": """argued blinked blushed bowed breathed cheered clapped coughed cried curtsied dozed
        drew dreamt exercised fainted fidgeted fished frowned gasped gestured giggled grinned
        grumbled hesitated hummed hurrahed joked juggled jumped knelt knitted listened meditated
        mumbled napped nodded painted paused pondered posed practised prayed read recited rested
        sang scribbled sewed shivered shrugged shuddered sighed slept smiled smirked sneezed snored
        sobbed stammered stared stretched stumbled swam swayed talked trembled tumbled twirled
        waited waved wept whispered winked worked wrestled yawned""",
    "instruments": """accordion banjo bagpipes bassoon bugle cello clarinet cornet cymbals drum
        fiddle flute gong guitar harmonica harp harpsichord horn lute lyre mandolin oboe organ
        recorder saxophone sitar tambourine triangle trombone trumpet tuba ukulele viola violin
        xylophone zither""",
    "clothes": """apron belt beret blouse bonnet boots bow cap cape cardigan cloak clogs coat collar
        corset costume dress gloves gown hat hood jacket jeans jersey kilt kimono mittens overalls
        pyjamas raincoat robe sandals sash scarf shawl shirt shoes shorts skirt slippers socks suit
        sweater tie trousers tunic turban uniform veil vest""",
    "materials": """amber bamboo bone brass bronze cardboard clay copper cotton crystal felt glass
        granite iron lace lead leather linen metal oak paper pine plaster plastic porcelain rubber
        satin silk slate steel straw tin velvet wax wicker wooden woollen""",
    "toys": """aeroplane balloon boomerang castle catapult dinosaur doll dragon glider hoop jigsaw
        kaleidoscope kite lorry maze monster parachute pinwheel puppet pyramid robot rocket scooter
        skittle slingshot snowman swing teddy trampoline unicorn yacht""",
    "vehicles": """ambulance barge bicycle boat bus canoe caravan cart coach ferry gondola
        helicopter kayak motorbike raft rickshaw ship sledge sleigh steamer submarine taxi tractor
        train tram tricycle truck van wheelbarrow zeppelin""",
    "trees": """alder apple ash aspen beech birch cedar chestnut cypress elder elm eucalyptus fir
        hawthorn hazel holly juniper larch laurel lime linden maple palm poplar rowan spruce
        sycamore walnut willow yew""",
    "flowers": """anemones asters bluebells buttercups carnations cornflowers crocuses daffodils
        daisies dandelions forget-me-nots foxgloves geraniums hyacinths irises lavender lilies
        marigolds orchids pansies peonies petunias poppies primroses roses snowdrops sunflowers
        thistles tulips violets""",
    "subjects": """algebra archery arithmetic astronomy biology botany chemistry chess cookery
        drawing geography geology geometry grammar gymnastics history juggling knitting latin law
        logic magic mathematics medicine music mythology navigation philosophy physics poetry
        pottery spelling weaving zoology""",
    "tools": """axe brush chisel crowbar drill file hammer hatchet hoe knife mallet nail pickaxe
        plunger rake ruler saw screwdriver scythe shovel sickle spade spanner
        trowel wrench""",
    "household": """balcony ceiling clock corridor door doorbell drain floor gutter hinge lid lock
        machine pump radiator roof sink switch tap tent wall window""",
    "skies": """breeze cloud dawn drizzle dusk fog frost gale hail hurricane lightning mist moon
        rain rainbow shower sky sleet snow star storm sun sunrise sunset thunder tide twilight
        wind""",
    "states": """asleep awake covered drenched eating feasting fighting flying growing grazing
        hiding kneeling leaping lost missing moving muddy nesting panting playing quarrelling quiet
        resting running shivering sleeping sneezing still stuck swimming trapped trembling waiting
        wet""",
    "seasons": """spring summer autumn winter""",
    "days": """Monday Tuesday Wednesday Thursday Friday Saturday Sunday""",
    "months": """January February March April May June July August September October November
        December""",
    "numbers": """two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen""",
    "wild": """ant badger bat beaver beetle butterfly camel caterpillar cheetah chipmunk crab crane
        crocodile dolphin dragonfly eagle eel ferret flamingo giraffe gorilla grasshopper hamster
        hare hawk hedgehog jackal jaguar kangaroo koala ladybird leopard lizard llama lobster mole
        octopus ostrich otter panda peacock penguin pigeon porcupine puffin rabbit rat raven rhino
        scorpion seagull seal sloth slug snail spider swallow swan tiger toad tortoise turtle
        vulture wasp whale worm zebra""",
}

_SOUNDS = """bear:growled bee:buzzed bull:bellowed canary:trilled cat:meowed cow:mooed
    cricket:chirped crow:cawed cuckoo:called dog:barked donkey:brayed dove:cooed
    duck:quacked elephant:trumpeted fox:yelped frog:croaked goose:honked hen:clucked horse:neighed
    hyena:cackled kitten:mewed lamb:bleated lion:roared monkey:chattered mosquito:whined
    mouse:squeaked nightingale:warbled owl:hooted parrot:squawked pig:grunted pony:whinnied
    puppy:yapped rooster:crowed snake:hissed sparrow:twittered thrush:whistled turkey:gobbled
    wolf:howled woodpecker:drummed"""

SOUNDS = dict(pair.split(":") for pair in _SOUNDS.split())
"""The past tense of what each animal says."""

_CAPITALS = """Australia:Canberra Austria:Vienna Bangladesh:Dhaka Belgium:Brussels
    Bulgaria:Sofia Canada:Ottawa Chile:Santiago China:Beijing Croatia:Zagreb Cuba:Havana
    Denmark:Copenhagen Ecuador:Quito Egypt:Cairo Estonia:Tallinn Finland:Helsinki France:Paris
    Germany:Berlin Ghana:Accra Greece:Athens Hungary:Budapest Iceland:Reykjavik Iran:Tehran
    Iraq:Baghdad Ireland:Dublin Italy:Rome Jamaica:Kingston Japan:Tokyo Kenya:Nairobi Latvia:Riga
    Lebanon:Beirut Lithuania:Vilnius Mali:Bamako Morocco:Rabat Nepal:Kathmandu Norway:Oslo Peru:Lima
    Poland:Warsaw Portugal:Lisbon Romania:Bucharest Russia:Moscow Senegal:Dakar Serbia:Belgrade
    Slovakia:Bratislava Slovenia:Ljubljana Spain:Madrid Sweden:Stockholm Thailand:Bangkok
    Tunisia:Tunis Uganda:Kampala Ukraine:Kyiv Vietnam:Hanoi Zambia:Lusaka Zimbabwe:Harare"""

CAPITALS = dict(pair.split(":") for pair in _CAPITALS.split())
"""The capital of each country."""

_PAIRS = """king:queen:crown,sceptre,kingdom prince:princess:tutor,stallion,ballroom
    duke:duchess:mansion,heirlooms,stables emperor:empress:empire,army,fleet
    count:countess:portrait,lapdog,county baron:baroness:manor,moat,drawbridge
    lord:lady:title,crest,banner uncle:aunt:recipes,rhubarb,parlour
    father:mother:children,toddler,cooking grandfather:grandmother:grandchildren,spectacles,proverbs
    brother:sister:bunk,scrapbook,secrets son:daughter:homework,lunchbox,report
    nephew:niece:tadpoles,stickers,treehouse husband:wife:wedding,honeymoon,anniversary
    boy:girl:satchel,tooth,playmates man:woman:house,neighbours,job
    actor:actress:audience,applause,understudy waiter:waitress:tips,menu,customers
    host:hostess:guests,banquet,invitations wizard:witch:wand,cauldron,spells
    hero:heroine:quest,bravery,legend monk:nun:prayers,vows,rosary
    shepherd:shepherdess:flock,crook,sheepdog sorcerer:sorceress:staff,apprentice,potions
    steward:stewardess:passengers,timetable,cabin groom:bride:bouquet,confetti,vows
    landlord:landlady:tenants,rent,lodgers policeman:policewoman:whistle,badge,handcuffs
    heir:heiress:inheritance,fortune,jewels giant:giantess:boulder,club,appetite"""

PAIRS = tuple((man, woman) for man, woman, _ in (triple.split(":") for triple in _PAIRS.split()))
"""(man's word, woman's word): king and queen, uncle and aunt."""

LORE = {
    role: tuple(entry.split(":")[2].split(","))
    for entry in _PAIRS.split()
    for role in entry.split(":")[:2]
}
"""What the two of a pair are proud of: the same three things for king and queen."""

_OPPOSITES = """hot:cold deep:shallow wide:narrow long:short thick:thin hard:soft dry:damp
    clean:dirty full:empty light:heavy fast:slow sharp:blunt bright:dim cheap:expensive new:old
    open:shut straight:bent tight:loose high:low flat:steep fresh:stale locked:unlocked
    visible:invisible genuine:fake simple:complicated even:uneven loud:soundless
    permanent:temporary waterproof:leaky whole:torn"""

OPPOSITES = tuple((left, right) for left, right in (p.split(":") for p in _OPPOSITES.split()))
"""Adjectives and their contraries, each way round."""

_SURNAME_STARTS = (
    "Bramble Copper Ember Fennel Marrow Nettle Pebble Saffron Raven Thistle Tinder Winter"
)
_SURNAME_ENDS = "by combe dale field ford hurst ley mere son ton wick worth"
_PLURALS = {"mouse": "mice", "goose": "geese"}
_PLURALS |= {"wolf": "wolves", "rhino": "rhinos"}
_PLURALS |= {"mosquito": "mosquitoes", "flamingo": "flamingos"}
_PLURALS |= {"kangaroo": "kangaroos", "oasis": "oases"}
_PLURALS |= {"volcano": "volcanoes"}


@cache
def words(category: str) -> tuple[str, ...]:
    """Return the words of a category in a fixed order.

    Raises ValueError for a category that does not exist.
    """
    computed = {
        "names": lambda: words("girls") + words("boys"),
        "surnames": lambda: tuple(
            a + b for a in _SURNAME_STARTS.split() for b in _SURNAME_ENDS.split()
        ),
        "voiced": lambda: tuple(SOUNDS),
        "sounds": lambda: tuple(SOUNDS.values()),
        "animals": lambda: words("wild") + words("voiced"),
        "animals_plural": lambda: tuple(plural(word) for word in words("animals")),
        "features_plural": lambda: tuple(plural(word) for word in words("features")),
        "countries": lambda: tuple(CAPITALS),
        "capitals": lambda: tuple(CAPITALS.values()),
        "men": lambda: tuple(man for man, _ in PAIRS),
        "women": lambda: tuple(woman for _, woman in PAIRS),
        "roles": lambda: words("men") + words("women"),
        "lore": lambda: tuple(dict.fromkeys(word for three in LORE.values() for word in three)),
        "contraries": lambda: tuple(word for pair in OPPOSITES for word in pair),
    }
    if category in computed:
        return computed[category]()
    if category not in _WORDS:
        raise ValueError(f"no word category {category!r}; there are {', '.join(CATEGORIES)}")
    return tuple(_WORDS[category].split())


CATEGORIES = (*_WORDS, "surnames", "voiced", "sounds", "animals_plural", "features_plural")
CATEGORIES += ("countries", "capitals", "men", "women", "lore", "contraries")
"""The categories that hold every content word."""


def plural(noun: str) -> str:
    """Return the plural of a noun by the rules of spelling: plural("fox") == "foxes"."""
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def article(word: str) -> str:
    """Return "a" or "an", whichever the sound of the word asks for."""
    first = word[0].lower()
    sounds_open = first in "aeio" or (first == "u" and not word.startswith(_YOU_SOUNDS))
    return "an" if sounds_open or word.startswith(_SILENT_H) else "a"


_YOU_SOUNDS = ("uni", "use", "usu", "uku", "ute")
_SILENT_H = ("heir", "honest", "hour")
