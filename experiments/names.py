"""The bundled list of given names: well-known ones, and crossings between them."""

import random
from itertools import pairwise
from pathlib import Path

from experiments._command import write_to
from llmviz.files.paths import DATA
from llmviz.files.whole import write_whole

NAME_COUNT = 8_000

_WELL_KNOWN = """aaron abby abel abigail abraham ada adam adela adele adrian agatha agnes aida
    aileen alan alana albert alec alexander alexandra alexis alfred alice alicia alina alison allan
    alma alvin amanda amber amelia amy ana anastasia andrea andrew angela angelica angus anita ann
    anna annabel anne annette anthony antonia antonio april ariel arlene arnold arthur astrid
    athena aubrey audrey august augusta aurora austin ava avery barbara barry basil beatrice becky
    belinda bella ben benedict benjamin bernadette bernard bertha beth bethany betty beverly bianca
    bill billy blair blake blanche bob bonnie boris brad bradley brandon brenda brendan brian
    bridget bruce bruno bryan caitlin calvin cameron camilla camille carl carla carlos carmen carol
    caroline carolyn carrie casey cassandra catherine cecil cecilia cedric celeste celia charles
    charlie charlotte chelsea cheryl chester chloe chris christian christina christine christopher
    cindy claire clara clarence clarissa clark claude claudia clement clifford clinton clive colin
    colleen connie connor conrad constance cora cordelia corey cornelia craig crystal curtis
    cynthia cyril cyrus daisy dale dan dana daniel daniela danny daphne darren dave david dawn dean
    deborah deirdre della delia denise dennis derek desmond diana diane dick diego dirk dolores
    dominic don donald donna dora doreen doris dorothy doug douglas duncan dwight dylan earl eddie
    edgar edith edmund edna eduardo edward edwin eileen elaine eleanor elena eli elias elijah eliot
    elise eliza elizabeth ella ellen elliot elmer eloise elsa elsie elvira emil emilia emily emma
    emmanuel enid enrique eric erica erik erin ernest ernestine esme esther ethan ethel eugene
    eunice eva evan evangeline eve evelyn ezra faith fanny fay felicia felicity felix ferdinand
    fergus fiona flora florence frances francesca francis francisco frank franklin fred freda
    frederick freya gabriel gabriela gail gareth gary gavin gemma genevieve geoffrey george georgia
    georgina gerald geraldine gerard gertrude gideon gilbert gina giovanni giselle gladys glen
    glenda gloria gordon grace graham grant greg gregory greta guido gunnar gus gustav guy gwen
    gwendolyn hannah hans harold harriet harry harvey hazel heath heather hector heidi helen helena
    helga henrietta henry herbert herman hermione hilary hilda holly homer hope horace howard
    hubert hugh hugo humphrey ian ida ignacio igor imogen ines ingrid ira irene iris irma irving
    isaac isabel isabella isadora isaiah isla ivan ivor ivy jack jackson jacob jacqueline jade
    james jamie jan jane janet janice jared jasmine jason jasper javier jay jean jeanette jeff
    jeffrey jemima jennifer jenny jeremy jerome jerry jesse jessica jill jim jo joan joanna joe
    joel john johanna jonah jonas jonathan jordan jorge jose joseph josephine joshua joy joyce juan
    juanita judith judy julia julian juliana julie juliet julius june justin justine karen karin
    karl kate katherine kathleen katrina kay keith kelly kelvin ken kendra kenneth kerry kevin kim
    kimberly kirk kirsten kit klaus kristen kurt kyle lana lance larry lars laura lauren laurence
    lavinia leah leila lena leo leon leonard leonora leroy leslie lester lewis liam lila lillian
    lily lina linda lionel lisa lloyd lois lola lorenzo lorna lorraine louis louisa louise lucas
    lucia lucille lucinda lucius lucy luis luke luna lydia lyle lynn mabel mackenzie madeleine
    madison mae magda maggie magnus malcolm mandy manuel marc marcel marcella marcia marco marcus
    margaret margot maria marian marianne marie marilyn marina mario marion marissa marjorie mark
    marlene marsha marta martha martin martina marvin mary mathilda matilda matthew maud maude
    maureen maurice maurizio max maxine maxwell may megan melanie melissa melody melvin mercedes
    meredith mia michael michaela michelle miguel mildred miles millicent milly milo milton mimi
    mina minnie mira miranda miriam mitchell moira molly mona monica monique morgan morris mortimer
    moses muriel murray myra myrtle nadia nadine nancy naomi natalia natalie natasha nathan
    nathaniel neil nell nellie nelson nicholas nick nicole nigel nina noah noel nora noreen norma
    norman octavia odette olaf olga olive oliver olivia opal ophelia orlando orson oscar oswald
    otis otto owen pablo paige pam pamela pansy pascal pat patience patricia patrick paul paula
    pauline pearl pedro peggy penelope percival percy perry pete peter petra petula phil philip
    philippa phoebe phyllis pierre polly portia preston priscilla prudence quentin quincy rachel
    rafael ralph ramon ramona randall randolph raphael raquel ray raymond rebecca reginald regina
    renata rene rex reynold rhoda rhonda richard rick rita rob robert roberta robin rochelle
    roderick rodney roger roland rolf roman romeo ron ronald rory rosa rosalie rosalind rosamund
    rose rosemary rosie ross rowan rowena roxanne roy ruben ruby rudolf rufus rupert russell ruth
    ryan sabina sabrina sadie sally salvador sam samantha samson samuel sandra sara sarah saul
    scarlett scott sean sebastian selena selma serena seth seymour shane shannon sharon sheila
    shelley sherman shirley sidney sigmund silas silvia simon simone skye sofia solomon sonia
    sophia sophie spencer stacy stanley stella stephanie stephen steve steven stewart stuart sue
    susan susannah sven sybil sylvester sylvia tabitha tamara tamsin tania tara ted terence teresa
    terry tessa thaddeus thea thelma theo theodora theodore theresa thomas tilda tim timothy tina
    tobias toby todd tom tony tracy travis trevor tristan trudy tyler ulrich ulysses una ursula
    valentina valentine valerie vanessa vaughn vera verity vernon veronica victor victoria vince
    vincent viola violet virgil virginia vivian vivienne vladimir wallace walter wanda warren wayne
    wendell wendy wesley wilbur wilfred wilhelmina will william willow wilma winifred winston
    xander xavier yolanda yvette yvonne zachary zara zelda zena zoe"""


def make_names(count: int = NAME_COUNT, seed: int = 0) -> list[str]:
    """Return `count` different given names in alphabetical order, lower case, letters a to z.

    The well-known ones are all in it; each of the others is a crossing of two of them (see
    `cross`), 4 to 9 letters long, no letter three times in a row.
    Raises ValueError if count is below the number of well-known names.

    >>> cross("rosalind", "melinda")
    'rosalinda'
    """
    known = _WELL_KNOWN.split()
    names = set(known)
    if count < len(names):
        raise ValueError(f"the list starts from {len(names)} well-known names; got count={count}")
    chance = random.Random(seed)
    while len(names) < count:
        name = cross(*chance.sample(known, 2))
        if name and 4 <= len(name) <= 9 and not _tripled(name):
            names.add(name)
    return sorted(names)


def cross(first: str, second: str) -> str | None:
    """Return the beginning of one name joined to the end of another where they share two letters.

    The longest shared end is not sought: the last pair of letters of `first` that stands in
    `second` (not at its beginning) is where they are joined. None if there is no such pair.
    """
    for at in range(len(first) - 2, 0, -1):
        joint = second.find(first[at : at + 2], 1)
        if joint != -1:
            return first[:at] + second[joint:]
    return None


def _tripled(name: str) -> bool:
    return any(a == b == c for (a, b), c in zip(pairwise(name), name[2:], strict=False))


def make(folder: Path) -> None:
    """Write the list into a folder, a name a line."""
    text = "".join(f"{name}\n" for name in make_names())
    write_whole(folder / "names.txt", lambda path: path.write_text(text, "utf-8", newline="\n"))


if __name__ == "__main__":
    write_to(make, "Write the list of given names.", DATA)
