"""Find two topics in four tiny documents, with gensim."""

from gensim.corpora import Dictionary
from gensim.models import LsiModel

documents = [text.split() for text in ("ring tree", "tree switch", "ring switch cable", "cable")]
words = Dictionary(documents)
model = LsiModel([words.doc2bow(document) for document in documents], id2word=words, num_topics=2)
print("topics:", len(model.projection.s))
