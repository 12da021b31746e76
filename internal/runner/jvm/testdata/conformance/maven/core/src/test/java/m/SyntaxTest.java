package m;

class SyntaxTest {
    @org.junit.jupiter.api.Test
    void never() {
        if (
    }
