/**
 * The ISO 3166-1 alpha-2 code, in lower case, of the country that a text names by this code, its alpha-3 code or its
 * English name; undefined if the text names no country.
 */
export function countryCode(text: string): string | undefined {
  const name = plainName(text);
  return knownCodes.has(name) ? name : (codeOfAlpha3.get(name) ?? aliases.get(name) ?? englishNames().get(name));
}

// ISO 3166-1: the alpha-2 code of each country, then its alpha-3 code.
const codes = `
  adand aeare afafg agatg aiaia alalb amarm aoago aqata ararg asasm ataut auaus awabw axala azaze babih bbbrb
  bdbgd bebel bfbfa bgbgr bhbhr bibdi bjben blblm bmbmu bnbrn bobol bqbes brbra bsbhs btbtn bvbvt bwbwa byblr
  bzblz cacan cccck cdcod cfcaf cgcog chche ciciv ckcok clchl cmcmr cnchn cocol crcri cucub cvcpv cwcuw cxcxr
  cycyp czcze dedeu djdji dkdnk dmdma dodom dzdza ececu eeest egegy ehesh ereri esesp eteth fifin fjfji fkflk
  fmfsm fofro frfra gagab gbgbr gdgrd gegeo gfguf ggggy ghgha gigib glgrl gmgmb gngin gpglp gqgnq grgrc gssgs
  gtgtm gugum gwgnb gyguy hkhkg hmhmd hnhnd hrhrv hthti huhun ididn ieirl ilisr imimn inind ioiot iqirq irirn
  isisl itita jejey jmjam jojor jpjpn keken kgkgz khkhm kikir kmcom knkna kpprk krkor kwkwt kycym kzkaz lalao
  lblbn lclca lilie lklka lrlbr lslso ltltu lulux lvlva lylby mamar mcmco mdmda memne mfmaf mgmdg mhmhl mkmkd
  mlmli mmmmr mnmng momac mpmnp mqmtq mrmrt msmsr mtmlt mumus mvmdv mwmwi mxmex mymys mzmoz nanam ncncl nener
  nfnfk ngnga ninic nlnld nonor npnpl nrnru nuniu nznzl omomn papan peper pfpyf pgpng phphl pkpak plpol pmspm
  pnpcn prpri pspse ptprt pwplw pypry qaqat rereu rorou rssrb rurus rwrwa sasau sbslb scsyc sdsdn seswe sgsgp
  shshn sisvn sjsjm sksvk slsle smsmr snsen sosom srsur ssssd ststp svslv sxsxm sysyr szswz tctca tdtcd tfatf
  tgtgo ththa tjtjk tktkl tltls tmtkm tntun toton trtur tttto tvtuv twtwn tztza uaukr uguga umumi ususa uyury
  uzuzb vavat vcvct veven vgvgb vivir vnvnm vuvut wfwlf wswsm yeyem ytmyt zazaf zmzmb zwzwe`;

const codeOfAlpha3: ReadonlyMap<string, string> = new Map(
  codes
    .trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(2), pair.slice(0, 2)]),
);

const knownCodes: ReadonlySet<string> = new Set(codeOfAlpha3.values());

/** Names in use that are missing in the table of English names. */
const aliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    america: 'us',
    bruneidarussalam: 'bn',
    burma: 'mm',
    caboverde: 'cv',
    czechrepublic: 'cz',
    democraticrepublicofcongo: 'cd',
    england: 'gb',
    greatbritain: 'gb',
    holland: 'nl',
    hongkong: 'hk',
    ivorycoast: 'ci',
    korea: 'kr',
    macao: 'mo',
    macau: 'mo',
    macedonia: 'mk',
    myanmar: 'mm',
    northernireland: 'gb',
    palestine: 'ps',
    republicofcongo: 'cg',
    republicofkorea: 'kr',
    russianfederation: 'ru',
    scotland: 'gb',
    swaziland: 'sz',
    turkey: 'tr',
    uae: 'ae',
    uk: 'gb',
    unitedstatesofamerica: 'us',
    vatican: 'va',
    wales: 'gb',
  }),
);

let namesRead: ReadonlyMap<string, string> | undefined;

/** Codes by English name. Read once from the runtime's own table, when the first name is needed. */
function englishNames(): ReadonlyMap<string, string> {
  if (namesRead === undefined) {
    const display = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
    namesRead = new Map([...knownCodes].map((code) => [plainName(display.of(code.toUpperCase()) ?? ''), code]));
  }
  return namesRead;
}

/**
 * `The Gambia` and `Gambia`, `Trinidad & Tobago` and `Trinidad and Tobago`, `St. Lucia` and `Saint Lucia` are equal.
 */
function plainName(text: string): string {
  return text
    .slice(0, 100)
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replaceAll(/\bthe\b/g, '')
    .replaceAll(/\bsaint\b/g, 'st')
    .normalize('NFD')
    .replaceAll(/[^\p{L}]/gu, '');
}
