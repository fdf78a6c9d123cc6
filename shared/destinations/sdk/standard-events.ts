import type { SentEvent } from './event.ts';

/** A thing that happens in most businesses, and the names it goes by. */
type StandardEventDeclaration = {
  /** The name in the vocabulary that customer data platforms share (https://segment.com/docs/connections/spec), or near to it. */
  readonly label: string;
  /** The other names in common use, without case and separators: of Google Analytics 4 and of the ad platforms. */
  readonly aliases: readonly string[];
};

/**
 * What happens in most businesses, under its common name and the spellings it is sent under. What each platform calls it
 * stands in `platform-events.ts`.
 */
export const standardEvents = {
  pageView: {
    label: 'Page Viewed',
    aliases: ['pageview', 'viewedpage', 'page', 'pagevisit', 'pagevisited', 'pageloaded'],
  },
  viewContent: {
    label: 'Product Viewed',
    aliases: ['viewcontent', 'viewedproduct', 'productview', 'viewitem', 'contentviewed'],
  },
  viewList: {
    label: 'Product List Viewed',
    aliases: [
      'viewlist',
      'viewcategory',
      'viewitemlist',
      'listview',
      'categoryviewed',
      'viewedproductlist',
      'viewedproductcategory',
      'productcategoryviewed',
    ],
  },
  selectItem: { label: 'Product Clicked', aliases: ['selectitem', 'clickedproduct', 'productselected'] },
  search: {
    label: 'Products Searched',
    aliases: ['search', 'searched', 'viewsearchresults', 'searchedproducts', 'productsearched'],
  },
  addToCart: {
    label: 'Product Added',
    aliases: ['addtocart', 'addedtocart', 'addcart', 'cartadded', 'addedproduct', 'productaddedtocart'],
  },
  removeFromCart: {
    label: 'Product Removed',
    aliases: ['removefromcart', 'removedfromcart', 'cartremoved', 'removedproduct', 'productremovedfromcart'],
  },
  viewCart: { label: 'Cart Viewed', aliases: ['viewcart', 'viewedcart'] },
  addToWishlist: {
    label: 'Product Added to Wishlist',
    aliases: ['addtowishlist', 'addedtowishlist', 'wishlistproductadded', 'addedproducttowishlist'],
  },
  startCheckout: {
    label: 'Checkout Started',
    aliases: ['initiatecheckout', 'begincheckout', 'startcheckout', 'startedcheckout'],
  },
  addShippingInfo: { label: 'Shipping Info Entered', aliases: ['addshippinginfo', 'shippinginfoadded'] },
  addPaymentInfo: {
    label: 'Payment Info Entered',
    aliases: ['addpaymentinfo', 'addbilling', 'paymentinfoadded', 'enteredpaymentinfo'],
  },
  purchase: {
    label: 'Order Completed',
    aliases: ['purchase', 'completepayment', 'completedorder'],
  },
  // Paid or not, an order that is placed is another event than one that is completed: shops send both.
  placeOrder: { label: 'Order Placed', aliases: ['placedorder', 'placeanorder', 'placeorder'] },
  refund: { label: 'Order Refunded', aliases: ['refund', 'refundedorder'] },
  cancelOrder: { label: 'Order Cancelled', aliases: ['ordercanceled', 'cancelledorder', 'canceledorder'] },
  viewPromotion: { label: 'Promotion Viewed', aliases: ['viewpromotion', 'viewedpromotion'] },
  selectPromotion: { label: 'Promotion Clicked', aliases: ['selectpromotion', 'clickedpromotion'] },
  joinGroup: { label: 'Group Joined', aliases: ['joingroup', 'joinedgroup'] },
  share: { label: 'Product Shared', aliases: ['share'] },
  signUp: {
    label: 'Signed Up',
    aliases: ['signup', 'completeregistration', 'registrationcompleted', 'accountcreated'],
  },
  login: { label: 'Signed In', aliases: ['login', 'loggedin', 'signin'] },
  lead: {
    label: 'Lead',
    aliases: ['generatelead', 'leadsubmitted', 'leadcreated'],
  },
  // Newsletters, searches and questions are forms too: none is a lead by itself.
  submitForm: { label: 'Form Submitted', aliases: ['submitform', 'formsubmit'] },
  subscribe: { label: 'Subscription Started', aliases: ['subscribe', 'subscriptioncreated'] },
  startTrial: { label: 'Trial Started', aliases: ['starttrial', 'startedtrial'] },
  contact: { label: 'Contacted', aliases: ['contact', 'contactus'] },
  schedule: {
    label: 'Appointment Scheduled',
    aliases: ['schedule', 'scheduled', 'appointmentbooked', 'bookappointment'],
  },
  submitApplication: { label: 'Application Submitted', aliases: ['submitapplication'] },
  findLocation: { label: 'Location Searched', aliases: ['findlocation', 'locationfound'] },
  customizeProduct: { label: 'Product Customized', aliases: ['customizeproduct', 'customiseproduct'] },
  donate: { label: 'Donated', aliases: ['donate', 'donation', 'donationcompleted'] },
  appInstall: { label: 'Application Installed', aliases: ['appinstall', 'appinstalled'] },
  appOpen: { label: 'Application Opened', aliases: ['appopen', 'appopened'] },
  watchVideo: { label: 'Video Playback Started', aliases: ['watchvideo', 'videowatched', 'videostart'] },
} as const satisfies Readonly<Record<string, StandardEventDeclaration>>;

export type StandardEvent = keyof typeof standardEvents;

/** What a standard event says of money and goods, in the words of `commerceOf`. */
export type StandardParameter =
  | 'value'
  | 'currency'
  | 'orderId'
  | 'itemIds'
  | 'itemCount'
  | 'itemId'
  | 'itemName'
  | 'itemCategory'
  | 'itemBrand'
  | 'itemPrice'
  | 'itemQuantity'
  | 'searchText';

/** A platform's own words for standard events. */
export type PlatformVocabulary = {
  /** Its name for each event it has one for. */
  readonly names: Readonly<Partial<Record<StandardEvent, string>>>;
  /** Names of its own that stand for nothing above: an event of that name, however it is written, keeps it. */
  readonly others?: readonly string[];
  /** What becomes of an event it has no name for, in a few words for the documents. */
  readonly unnamed: string;
  /** Where in the body of the request each parameter stands: `data[].custom_data.contents[].item_price`. */
  readonly parameters: Readonly<Partial<Record<StandardParameter, string>>>;
  /** Where the platform publishes them. */
  readonly source: string;
};

/** What the name of an event is taken from: a name that a mapping gave is the platform's or none. */
export type NamedEvent = Pick<SentEvent, 'name' | 'isRenamed'>;

/**
 * The platform's name for an event: one of its own names, however it is written, or its name for what the event's name
 * says in common use (`Order Completed` is a purchase). Undefined for an event it has no name for. What a mapping named is
 * not translated: it says what the platform receives.
 */
export function createEventNames({
  names: ofStandard,
  others = [],
}: Pick<PlatformVocabulary, 'names' | 'others'>): (event: NamedEvent) => string | undefined {
  // The platform's own names first: the same word may mean another thing elsewhere.
  const own = new Map([...Object.values(ofStandard), ...others].map((name) => [plain(name), name]));
  const common = new Map(
    Object.entries(standardEvents).flatMap(([standard, { label, aliases }]) => {
      const name = ofStandard[standard as StandardEvent];
      return name === undefined ? [] : [plain(label), ...aliases].map((alias) => [alias, name] as const);
    }),
  );
  return ({ name, isRenamed }) => {
    if (name.length > nameCharactersMax) return undefined;
    const written = plain(name);
    return own.get(written) ?? (isRenamed ? undefined : common.get(written));
  };
}

const common: ReadonlyMap<string, StandardEvent> = new Map(
  Object.entries(standardEvents).flatMap(([standard, { label, aliases }]) =>
    [plain(label), ...aliases].map((alias) => [alias, standard as StandardEvent] as const),
  ),
);

/** Which standard event a name in common use stands for; undefined for any other name. */
export function standardEventOf(name: string): StandardEvent | undefined {
  return name.length > nameCharactersMax ? undefined : common.get(plain(name));
}

const nameCharactersMax = 100;

/** `Order Completed`, `order_completed` and `orderCompleted` are one. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
